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
    case Activation::relu:
      return fmaxf(x, 0.0f);
    case Activation::softplus:
      return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)));
  }
  return x;
}

}  // namespace biogpu::gpu::ops
