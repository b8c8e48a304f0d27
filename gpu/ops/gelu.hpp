#pragma once

#include <cmath>

#include "gpu/prim/fast_math.hpp"

namespace biogpu::gpu::ops {

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
// two, and few of the others: error below 1.4e-5, and a third of half a step of fp16 at most
// (8.0e-5 of the result, towards x = 0). Below x of about -4.2 results are subnormal in fp16; those
// of bf16 are off by more than half a step from about -5 on, where they are next to nothing. The
// other tail of the normal distribution is 2^p(|x|), p fitted on [0, 6.2] for the least largest
// error in units of the last of 11 bits; p falls for good, so that large x need no clamp. Infinite
// x gives NaN.
__device__ __forceinline__ float gelu_to_16_bits(float x) {
  const float a = fabsf(x);
  float p = -0.000329721399f;
  p = p * a + 0.00591406273f;
  p = p * a - 0.0485195816f;
  p = p * a - 0.463746995f;
  p = p * a - 1.14935398f;
  p = p * a - 1.00011563f;
  return fmaxf(x, 0.0f) - a * fast_exp2(p);  // NaN comes through p
}

}  // namespace biogpu::gpu::ops
