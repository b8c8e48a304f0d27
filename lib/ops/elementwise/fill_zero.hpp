#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// x = 0.
struct FillZero {
  Tensor x;  // f32, contiguous
};
BIOGPU_DECLARE_OP(fill_zero, FillZero);

}  // namespace biogpu::ops
