#pragma once

#include "gpu/prim/fast_math.hpp"

namespace biogpu::gpu::nn {

// x / 2 (1 + erf(x / sqrt 2)), erf to 1.5e-7: formula 7.1.26 of Abramowitz and Stegun, Handbook of
// Mathematical Functions, a third of the instructions of erff.
__device__ __forceinline__ float gelu(float x) {
  const float z = fabsf(x) * 0.70710678118654752f;
  const float t = fast_reciprocal(1.0f + 0.3275911f * z);
  const float series =
      t * (0.254829592f +
           t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float tail = series * fast_exp2(-1.44269504f * z * z);  // 1 - erf z
  return 0.5f * x * (x < 0 ? tail : 2.0f - tail);
}

}  // namespace biogpu::gpu::nn
