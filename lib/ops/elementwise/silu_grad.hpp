#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// The gradient of silu: d_x = d_out s (1 + x (1 - s)), s = 1 / (1 + exp(-x)).
struct SiluGrad {
  Tensor x;      // f32 [R, d], contiguous
  Tensor d_out;  // f32 [R, d], contiguous
  Tensor d_x;    // f32 or operand [R, d], contiguous; f32: may be d_out's memory
};
BIOGPU_DECLARE_OP(silu_grad, SiluGrad);

}  // namespace biogpu::ops
