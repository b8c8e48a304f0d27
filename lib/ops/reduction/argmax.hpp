#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[r] = the first column of the greatest number of row r among the allowed columns: the next
// word. 0 where no column is allowed or nothing but NaN is there; NaN is never chosen.
struct Argmax {
  Tensor x;  // f32 [R, V], rows of any distance
  Tensor
      allowed;   // u8 [M, V], rows of any distance, or empty: columns that are not 0 may be chosen
  Tensor rules;  // i32 [R], or empty: row r obeys row rules[r] of `allowed`, else row 0
  Tensor out;    // i32 [R]; may be the memory of rules
  Tensor value;  // f32 [R], or empty: the number chosen, -infinity where there is none
};
BIOGPU_DECLARE_OP(argmax, Argmax);

}  // namespace biogpu::ops
