#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Squared Frobenius norms of tensors in the 9 numbers of lib/ops/cartesian_tensor/tensor_parts.hpp,
// channel by channel: with P = 3 those of the scalar (3 I^2), antisymmetric and symmetric parts,
// whose sum it is with P = 1.
struct TensorNorm {
  Tensor x;    // f32 [9, T, F], contiguous
  Tensor out;  // f32 [T, P, F], contiguous
};
BIOGPU_DECLARE_OP(tensor_norm, TensorNorm);

}  // namespace biogpu::ops
