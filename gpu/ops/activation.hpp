#pragma once

#include <cmath>

#include "gpu/ops/gelu.hpp"
#include "lib/ops/activation.hpp"

namespace biogpu::gpu::ops {

using biogpu::ops::Activation;

// 1 / (1 + e^-x)
__device__ __forceinline__ float sigmoid(float x) {
  return fast_reciprocal(1.0f + fast_exp2(-1.44269504f * x));
}

__device__ __forceinline__ float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::gelu_erf:
      return gelu(x);
    case Activation::gelu_sigmoid:
      return x * sigmoid(1.702f * x);
    case Activation::gelu_tanh:  // a sigmoid of twice the tangent's argument
      return x * sigmoid(x * (1.59576912f + 0.0713548163f * x * x));
    case Activation::relu:
      return x < 0 ? 0.0f : x;  // and not a number stays so
    case Activation::softplus:
      return (x < 0 ? 0.0f : x) + log1pf(expf(-fabsf(x)));
  }
  return x;
}

}  // namespace biogpu::gpu::ops
