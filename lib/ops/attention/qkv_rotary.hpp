#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Rotary position embedding of the rotate-half form: for i < h / 2 and the angle of (position, i),
// (a_i, a_{i + h/2}) -> (a_i cos - a_{i + h/2} sin, a_{i + h/2} cos + a_i sin).
// (Su et al. 2021, arXiv 2104.09864)
struct Rotary {
  Tensor cos_sin;  // f32 [P, h]: h / 2 cosines, then h / 2 sines
};

// qkv = x W^T + b with q and k rotated where rotary is given. Row: q [H, h], k [H, h], v [H, h].
// Any scale of q is in W and b already.
struct QkvRotary {
  Tensor x;                        // operand [T, d]
  const Linear* linear = nullptr;  // n_out = 3 d
  std::int64_t n_heads = 0;
  Rotary rotary;     // cos_sin empty: none
  Tensor positions;  // i32 [T], below P; read where rotary is given
  Tensor qkv;        // operand [T, 3 d], out
};
BIOGPU_DECLARE_OP(qkv_rotary, QkvRotary);

}  // namespace biogpu::ops
