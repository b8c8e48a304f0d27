#pragma once

// Device side of lib/ops/neighbours/radial_terms.hpp: what the radial functions of one distance
// share.

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::ops {

struct RadialTerms {
  float scaled, cutoff, cutoff_slope, scaled_factor;
};

__device__ inline RadialTerms radial_terms(float distance, float lower, float upper) {
  constexpr float kPi = 3.14159265358979323846f;
  const float rate = 5.0f / (upper - lower);
  const bool inside = distance < upper;
  RadialTerms terms;
  terms.scaled = expf(rate * (lower - distance));
  terms.cutoff = inside ? 0.5f * (cosf(kPi / upper * distance) + 1.0f) : 0.0f;
  terms.cutoff_slope = inside ? -kPi / (2.0f * upper) * sinf(kPi / upper * distance) : 0.0f;
  terms.scaled_factor = 2.0f * rate * terms.scaled * terms.cutoff;
  return terms;
}

}  // namespace biogpu::gpu::ops
