#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// The gradient of tensor_norm by the 9 numbers of each tensor.
struct TensorNormGrad {
  Tensor x;      // f32 [9, T, F], contiguous, as are all
  Tensor d_out;  // f32 [T, P, F], P = 1 or 3
  Tensor d_x;    // f32 [9, T, F]
};
BIOGPU_DECLARE_OP(tensor_norm_grad, TensorNormGrad);

}  // namespace biogpu::ops
