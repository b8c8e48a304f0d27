#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[starts[s] + counts[s]] = x[s]: one row more for each sequence of a cache. A sequence whose
// room is full keeps what it has. Starts and counts are in the context's memory and read when the
// operation runs, so that one captured graph serves every step.
struct AppendRows {
  Tensor x;       // f32 or operand [S, d], rows of any distance
  Tensor starts;  // i32 [S + 1]: sequence s has room for rows [starts[s], starts[s + 1])
  Tensor counts;  // i32 [S]: rows that it has
  Tensor out;     // of x's type, [starts[S], d], rows of any distance
};
BIOGPU_DECLARE_OP(append_rows, AppendRows);

}  // namespace biogpu::ops
