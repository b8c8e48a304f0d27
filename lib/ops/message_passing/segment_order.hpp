#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// What segment_sum reads, from the segment of each row: order holds the rows by segment, those of
// one segment in their own order, and starts where each segment begins there.
struct SegmentOrder {
  Tensor targets;  // i32 [E], each of 0..R - 1
  Tensor starts;   // i32 [R + 1]
  Tensor order;    // i32 [E]
};
BIOGPU_DECLARE_OP(segment_order, SegmentOrder);

}  // namespace biogpu::ops
