#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// y[q] = the maximum of rows [q * size, (q + 1) * size) of a segment for each channel, of those
// that there are. A segment of n rows becomes one of ceil(n / size), or of floor(n / size), which
// drops the rows behind the last whole window, as out_segments says.
struct MaxPool {
  Tensor x;  // f32 or operand [T, C], contiguous
  std::int64_t size = 2;
  const Ragged* segments = nullptr;      // of x
  const Ragged* out_segments = nullptr;  // of the results
  Tensor out;           // y, f32 or operand [T_out, C], contiguous; empty: not wanted
  Activated activated;  // of y
};
BIOGPU_DECLARE_OP(max_pool, MaxPool);

}  // namespace biogpu::ops
