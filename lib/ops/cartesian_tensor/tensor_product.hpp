#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Products of two tensors of each channel, made small: with the matrices Y and M of 9 numbers each
// (lib/ops/cartesian_tensor/tensor_parts.hpp) and the factor k of the atom,
//   C = k (Y M + M Y), or one_sided k 2 Y M;   out = C / (|C|^2 + 1)
// |C| being the Frobenius norm. TensorNet's interaction for O(3), and for SO(3).
struct TensorProduct {
  Tensor y;       // f32 [9, T, F], contiguous
  Tensor m;       // f32 [9, T, F], contiguous
  Tensor factor;  // f32 [T], or empty: 1
  bool one_sided = false;
  Tensor out;  // f32 [9, T, F], contiguous
};
BIOGPU_DECLARE_OP(tensor_product, TensorProduct);

}  // namespace biogpu::ops
