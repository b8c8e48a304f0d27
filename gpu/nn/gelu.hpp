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

// The same for results that are rounded to 16 bits, with one of the slow instructions in place of
// two: error below 1e-7, of x / 2 (1 + erf) for small x 4e-6 relative. The other tail of the normal
// distribution is 2^p(|x|), p fitted on [0, 5.5] for the least largest error of the result.
__device__ __forceinline__ float gelu_to_16_bits(float x) {
  const float a = fminf(fabsf(x), 8.0f);  // beyond, p is no tail
  float p = 3.25057772e-05f;
  p = p * a - 0.000763795571f;
  p = p * a + 0.00806167163f;
  p = p * a - 0.0533800796f;
  p = p * a - 0.458797604f;
  p = p * a - 1.15119171f;
  p = p * a - 0.999994338f;
  return (x < 0 ? 0.0f : x) - a * fast_exp2(p);  // fmaxf() would lose NaN
}

}  // namespace biogpu::gpu::nn
