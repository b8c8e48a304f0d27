#pragma once

#include "lib/models/dualbind/ops/declare.hpp"

namespace biogpu::models::dualbind {

// The centre of the tokens of each complex, and the sum over them of (x - centre)(x - centre)^T,
// which is not divided. Both in double precision, rounded at the end; zeros of no tokens.
struct Covariance {
  Tensor positions;   // f32 [T, 3]
  Tensor starts;      // i32 [C + 1]
  Tensor centre;      // f32 [C, 3]
  Tensor covariance;  // f32 [C, 3, 3]
};
BIOGPU_DECLARE_OP(covariance, Covariance);

}  // namespace biogpu::models::dualbind
