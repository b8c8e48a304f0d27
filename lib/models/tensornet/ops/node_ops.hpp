#pragma once

#include "lib/ops/declare.hpp"

// Operations on atoms. Tensors are the 9 numbers of lib/ops/cartesian_tensor/tensor_parts.hpp; all
// arrays are contiguous. References take fp64 tensors as well as fp32 ones, all of one type.
namespace biogpu::models::tensornet {

using ops::Context;
using ops::CpuContext;
using ops::Tensor;

// out[c, i] = weights[i, part(c)] * x[c, i], channel by channel.
struct PartScale {
  Tensor x;        // f32 [9, T, F]
  Tensor weights;  // f32 [T, 3, F]
  Tensor out;      // f32 [9, T, F]
};
BIOGPU_DECLARE_OP(part_scale, PartScale);

struct PartScaleGrad {
  Tensor x;          // f32 [9, T, F]
  Tensor weights;    // f32 [T, 3, F]
  Tensor d_out;      // f32 [9, T, F]
  Tensor d_weights;  // f32 [T, 3, F]
  Tensor d_x;        // f32 [9, T, F]; may be d_out's memory
};
BIOGPU_DECLARE_OP(part_scale_grad, PartScaleGrad);

// out = x / (|x|^2 + 1), |x| being the Frobenius norm of each channel's tensor.
struct TensorShrink {
  Tensor x;    // f32 [9, T, F]
  Tensor out;  // f32 [9, T, F]
};
BIOGPU_DECLARE_OP(tensor_shrink, TensorShrink);

struct TensorShrinkGrad {
  Tensor x;      // f32 [9, T, F]
  Tensor d_out;  // f32 [9, T, F]
  Tensor d_x;    // f32 [9, T, F]; may be d_out's memory
};
BIOGPU_DECLARE_OP(tensor_shrink_grad, TensorShrinkGrad);

// out = x + y + k y y, the product being that of matrices and k the factor of the atom.
struct TensorUpdate {
  Tensor x;       // f32 [9, T, F]
  Tensor y;       // f32 [9, T, F]
  Tensor factor;  // f32 [T], or empty: 1
  Tensor out;     // f32 [9, T, F]
};
BIOGPU_DECLARE_OP(tensor_update, TensorUpdate);

// By y; what x gets back is d_out.
struct TensorUpdateGrad {
  Tensor y;       // f32 [9, T, F]
  Tensor factor;  // f32 [T], or empty: 1
  Tensor d_out;   // f32 [9, T, F]
  Tensor d_y;     // f32 [9, T, F]
};
BIOGPU_DECLARE_OP(tensor_update_grad, TensorUpdateGrad);

}  // namespace biogpu::models::tensornet
