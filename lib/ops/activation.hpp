#pragma once

#include <cstdint>

#include "lib/tensor/tensor.hpp"

namespace biogpu::ops {

enum class Activation : std::uint8_t {
  none,
  gelu_erf,      // x / 2 (1 + erf(x / sqrt 2)), exact to rounding
  gelu_sigmoid,  // x / (1 + e^(-1.702 x))
  gelu_tanh,     // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  relu,
  softplus,  // log(1 + e^x), with log1p: small results keep their relative error
};

// A result as the next layer reads it: activation(x * scale + shift) for each channel. Batch norm
// at inference is such a scale and shift, (Ioffe and Szegedy 2015, arXiv 1502.03167):
// scale = weight / sqrt(running_var + eps), shift = bias - running_mean * scale.
struct Activated {
  tensor::Tensor scale;  // f32 [C], or empty: 1
  tensor::Tensor shift;  // f32 [C], or empty: 0
  Activation activation = Activation::none;
  tensor::Tensor out;  // f32 or operand [R, C], contiguous; empty: not wanted
};

}  // namespace biogpu::ops
