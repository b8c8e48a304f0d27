#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Up-sampling: y[q] = residual[q] + x[q / factor] in each segment. A segment of x of n rows becomes
// one of at most factor n rows, as out_segments says: back to the length before a pooling.
struct RepeatRows {
  Tensor x;  // f32 or operand [T, C], contiguous
  std::int64_t factor = 2;
  const Ragged* segments = nullptr;      // of x
  const Ragged* out_segments = nullptr;  // of the results
  Tensor residual;                       // f32 [T_out, C], or empty; may be out's memory
  Tensor out;           // y, f32 or operand [T_out, C], contiguous; empty: not wanted
  Activated activated;  // of y
};
BIOGPU_DECLARE_OP(repeat_rows, RepeatRows);

}  // namespace biogpu::ops
