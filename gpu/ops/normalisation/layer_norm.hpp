#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// x = source + add, written to `sum` where given, then normalised over its d numbers and written to
// `out` and `out_operand` where given, in n_groups equal parts. The source is a row of `x`, or,
// where `ids` is given, a row of a table: x[t] = table[ids[t]] * scale[t] +
// position_table[positions[t]]. Arrays of 16 bits are all of one type.
struct LayerNormArgs {
  std::int64_t n_rows = 0;
  int d = 0;
  Rows x;    // [n_rows, d]; with ids the table, [V, d]
  Rows add;  // [n_rows, d], or not given

  const std::int32_t* ids = nullptr;  // [n_rows]
  const float* scale = nullptr;       // [n_rows]; not given: 1
  Rows position_table;                // [P, d], or not given
  const std::int32_t* positions = nullptr;

  const float* weight = nullptr;  // [d]; not given: no normalisation, only `sum` is written
  const float* bias = nullptr;    // [d]
  float eps = 1e-5f;
  bool centred = true;  // else RMS norm: the mean is not taken off
  int n_groups = 1;     // parts of a row that are normalised by themselves
  Rows sum;             // [n_rows, d] each, or not given
  Rows out;             //
  Rows out_operand;     //
};

void launch_layer_norm(const LayerNormArgs& args, Stream& stream);

// Rows of an operation with the targets of a normalisation: embed and add_layer_norm. args: what
// the rows come from.
template <class Op>
void launch_layer_norm_targets(LayerNormArgs args, const Op& op, Stream& stream) {
  args.weight = op.norm.weight.template as<float>();
  args.bias = op.norm.bias.template as<float>();
  args.eps = op.norm.eps;
  args.sum = rows_of(op.sum);
  args.out = rows_of(op.out);
  args.out_operand = rows_of(op.out_operand);
  launch_layer_norm(args, stream);
}

}  // namespace biogpu::gpu::ops
