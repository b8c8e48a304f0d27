#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Eigenvalues, ascending, and unit eigenvectors, as columns, of symmetric 3 x 3 matrices, of which
// the lower triangles are read: what torch.linalg.eigh gives but for signs. The number of greatest
// magnitude of each vector, the first of those within 1e-6 of it, is positive. Equal eigenvalues
// have vectors that are orthogonal, and which is not said. DualBind takes all 8 choices of signs,
// so that its energy does not depend on the rule.
struct Eigen3 {
  Tensor x;        // f32 [R, 3, 3], matrices of any distance, each contiguous
  Tensor values;   // f32 [R, 3], or empty
  Tensor vectors;  // f32 [R, 3, 3], or empty; may be the memory of x
};
BIOGPU_DECLARE_OP(eigen3, Eigen3);

}  // namespace biogpu::ops
