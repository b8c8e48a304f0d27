#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// The gradient of radial_basis (lib/ops/neighbours/radial_basis.hpp):
//   d_distance[e] = sum over k of d_out[e, k] (c' + 2 a betas[k] (s - means[k]) s c) G_k
// with a = 5 / (cutoff_upper - cutoff_lower), G_k the Gaussian and
// c' = -pi / (2 cutoff_upper) sin(pi d / cutoff_upper).
struct RadialBasisGrad {
  Tensor distance;  // f32 [E]
  Tensor means;     // f32 [R]
  Tensor betas;     // f32 [R]
  float cutoff_lower = 0;
  float cutoff_upper = 0;
  Tensor d_out;       // f32 [E, R], contiguous
  Tensor d_distance;  // f32 [E]
};
BIOGPU_DECLARE_OP(radial_basis_grad, RadialBasisGrad);

}  // namespace biogpu::ops
