#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out = x / (1 + exp(-x)), number by number.
struct Silu {
  Tensor x;    // f32 [R, d], contiguous
  Tensor out;  // f32 or operand [R, d], contiguous; f32: may be x's memory
};
BIOGPU_DECLARE_OP(silu, Silu);

}  // namespace biogpu::ops
