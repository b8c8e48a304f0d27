#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[s] = mean of the rows of segment s without its first skip_begin and its last skip_end; 0
// where that leaves none.
struct MeanPool {
  Tensor x;  // f32 or operand [T, d]
  const Ragged* segments = nullptr;
  int skip_begin = 0;
  int skip_end = 0;
  Tensor out;  // f32 [n_segments, d]
};
BIOGPU_DECLARE_OP(mean_pool, MeanPool);

}  // namespace biogpu::ops
