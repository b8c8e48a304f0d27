#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Exponential normal radial functions of distances (torchmd-net's "expnorm"; Unke and Meuwly 2019,
// arXiv 1902.08408), with a cosine cutoff that begins at 0 for any cutoff_lower:
//   s(d) = exp(5 / (cutoff_upper - cutoff_lower) * (cutoff_lower - d))
//   c(d) = (cos(pi d / cutoff_upper) + 1) / 2 for d < cutoff_upper, else 0
//   out[e, k] = c(d) exp(-betas[k] (s(d) - means[k])^2), d = distance[e]
struct RadialBasis {
  Tensor distance;  // f32 [E]
  Tensor means;     // f32 [R]
  Tensor betas;     // f32 [R]
  float cutoff_lower = 0;
  float cutoff_upper = 0;
  Tensor out;  // f32 [E, R], contiguous
};
BIOGPU_DECLARE_OP(radial_basis, RadialBasis);

}  // namespace biogpu::ops
