#pragma once

#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Rotary positions of the rotate-half form, in place, for the first r numbers of each head: for
// i < r / 2, (x_i, x_{i + r/2}) -> (x_i cos - x_{i + r/2} sin, x_{i + r/2} cos + x_i sin). The
// others stay. What ops::QkvRotary does as part of a product, for any heads that lie in one tensor.
// (Su et al. 2021, arXiv 2104.09864)
struct RotateHeads {
  Tensor x;          // operand [T, H, h], heads of a row contiguous, rows of any distance
  Rotary rotary;     // f32 [P, r], r even, at most h
  Tensor positions;  // i32 [T], below P
};
BIOGPU_DECLARE_OP(rotate_heads, RotateHeads);

}  // namespace biogpu::ops
