#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// tanh of each number, in place.
struct Tanh {
  Tensor x;  // f32 [R, d]
};
BIOGPU_DECLARE_OP(tanh, Tanh);

}  // namespace biogpu::ops
