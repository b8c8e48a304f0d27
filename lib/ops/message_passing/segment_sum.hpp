#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[r] = sum of x[order[e]], or of x[e] where there is no order, for e from starts[r] to
// starts[r + 1]; with `mean`, that sum over the number of them, 0 where there are none.
// segment_order makes starts and order where rows have their targets instead. The order of
// additions depends on the segment's length and d alone. Gradient of sums: gather_rows of d_out
// with the segment of each row, put back in place where there is an order.
struct SegmentSum {
  Tensor x;       // f32 [*, d], rows of any distance
  Tensor starts;  // i32 [R + 1], rising
  Tensor order;   // i32 [*], rows of x; or empty
  Tensor out;     // f32 [R, d]; or f64: summed in double precision
  bool mean = false;
};
BIOGPU_DECLARE_OP(segment_sum, SegmentSum);

}  // namespace biogpu::ops
