#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[r][c] = sum of factors[r] x[t][columns[c]], or of x[t][c] where there are no columns, for t
// from ranges[r][0] to ranges[r][1]; 0 where that is no row. From 0 on in the order of the rows, in
// double precision, with every product and every sum rounded: the same bytes on every context.
struct RangeSum {
  Tensor x;        // f32 [T, *], rows of any distance
  Tensor ranges;   // i32 [R, 2], rows of x; may overlap
  Tensor factors;  // f64 [R]
  Tensor columns;  // i32 [d], columns of x; or empty
  Tensor out;      // f64 [R, d]
};
BIOGPU_DECLARE_OP(range_sum, RangeSum);

}  // namespace biogpu::ops
