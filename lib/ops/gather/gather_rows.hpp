#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[r] = x[rows[r]], zeros where rows[r] is -1, or x[r] where there are no rows; cast where the
// types differ. Rows from x.shape[0] on are those of `more`.
struct GatherRows {
  Tensor x;          // f32 or operand [*, d], rows of any distance
  Tensor rows;       // i32 [R], rows of x, then of more, or -1; or empty
  Tensor out;        // f32 or operand [R, d]
  Tensor more = {};  // of x's type [*, d], rows of x's distance; or empty
};
BIOGPU_DECLARE_OP(gather_rows, GatherRows);

}  // namespace biogpu::ops
