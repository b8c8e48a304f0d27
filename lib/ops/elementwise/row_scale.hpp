#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[r] = scale[r] x[r]
struct RowScale {
  Tensor x;      // f32 [R, d], contiguous
  Tensor scale;  // f32 [R]
  Tensor out;    // f32 [R, d], contiguous; may be x's memory
};
BIOGPU_DECLARE_OP(row_scale, RowScale);

struct RowScaleGrad {
  Tensor x;        // f32 [R, d], contiguous
  Tensor scale;    // f32 [R]
  Tensor d_out;    // f32 [R, d], contiguous
  Tensor d_x;      // f32 [R, d], contiguous; may be d_out's memory
  Tensor d_scale;  // f32 [R]
};
BIOGPU_DECLARE_OP(row_scale_grad, RowScaleGrad);

}  // namespace biogpu::ops
