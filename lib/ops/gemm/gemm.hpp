#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out = residual + activation(x W^T + b), in one pass over out where the context can.
struct Gemm {
  Tensor x;  // operand [R, n_in], rows of any distance
  const Linear* linear = nullptr;
  Activation activation = Activation::none;
  Tensor residual;  // of out's type, [R, n_out], or empty; may be out's memory; not with activation
  Tensor out;       // f32 or operand [R, n_out], rows of any distance
};
BIOGPU_DECLARE_OP(gemm, Gemm);

}  // namespace biogpu::ops
