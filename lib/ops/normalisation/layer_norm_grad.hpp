#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// The gradient of layer normalisation by its input: with z = (x - mean) s, s the inverse of the
// deviation, and g = d_out * weight,
//   d_x = s (g - mean(g) - z mean(g z))
struct LayerNormGrad {
  Tensor x;      // f32 [R, d], contiguous
  Norm norm;     // with a weight [d]
  Tensor d_out;  // f32 [R, d], contiguous
  Tensor d_x;    // f32 [R, d], contiguous; may be d_out's memory
};
BIOGPU_DECLARE_OP(layer_norm_grad, LayerNormGrad);

}  // namespace biogpu::ops
