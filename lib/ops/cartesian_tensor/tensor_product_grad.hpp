#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// The gradient of tensor_product by the 9 numbers of both tensors.
struct TensorProductGrad {
  Tensor y;       // f32 [9, T, F], contiguous, as are all
  Tensor m;       // f32 [9, T, F]
  Tensor factor;  // f32 [T], or empty: 1
  bool one_sided = false;
  Tensor d_out;  // f32 [9, T, F]
  Tensor d_y;    // f32 [9, T, F]
  Tensor d_m;    // f32 [9, T, F]
};
BIOGPU_DECLARE_OP(tensor_product_grad, TensorProductGrad);

}  // namespace biogpu::ops
