#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// x[t] = table[ids[t]] * scale[t] + position_table[positions[t]], then the targets of a
// normalisation: sum = x, out and out_operand = norm(x).
struct Embed {
  Tensor table;           // f32 [V, d]
  Tensor ids;             // i32 [T]
  Tensor scale;           // f32 [T], or empty: 1
  Tensor position_table;  // f32 [P, d], or empty
  Tensor positions;       // i32 [T], below P; read where position_table is given
  Norm norm;              // weight empty: no normalisation, only `sum` is written
  Tensor sum;             // f32 [T, d], or empty
  Tensor out;             // f32 [T, d], or empty
  Tensor out_operand;     // operand [T, d], or empty
};
BIOGPU_DECLARE_OP(embed, Embed);

}  // namespace biogpu::ops
