#include "lib/models/structure/diffusion_blocks.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "lib/ops/elementwise/map.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models {
namespace {

using ops::MapCode;
using tensor::Context;
using tensor::DType;
using tensor::LinearPart;
using tensor::permuted;
using tensor::repeated;
using tensor::split_axis;
using tensor::Tensor;
using tensor::WeightTable;

constexpr std::int64_t kBefore = (kWindowKeys - kWindowQueries) / 2;

// Rows of a buffer as windows of keys that begin 32 rows apart: [windows, 128, heads, h].
Tensor windows_of(const Tensor& rows, std::int64_t n_windows) {
  Tensor windows = rows;
  windows.rank = 4;
  windows.shape = {n_windows, kWindowKeys, rows.shape[1], rows.shape[2]};
  windows.stride = {kWindowQueries * rows.stride[0], rows.stride[0], rows.stride[1],
                    rows.stride[2]};
  return windows;
}

// Whatever the memory holds, NaN too.
void fill(const BlockContext& run, const Tensor& x, float number) {
  if (x.size() == 0) return;
  ops::map(run.context, ops::make_map({x}, {{MapCode::load, ops::Map::kNumber, 0, number}}, x));
}

// 1 for each key of each window that is an atom and, with a mask, not masked: f32 [windows, 128].
Tensor window_mask(const BlockContext& run, const Tensor& mask, std::int64_t n_atoms,
                   std::int64_t n_windows) {
  const std::int64_t n_rows = n_windows * kWindowQueries + 2 * kBefore;
  const Tensor line = run.arena.take(DType::f32, {n_rows});
  const Tensor atoms = line.slice(0, kBefore, kBefore + n_atoms);
  fill(run, line, 0);
  if (mask.empty()) {
    fill(run, atoms, 1);
  } else {
    ops::map(run.context, ops::map_copy(mask, atoms));
  }
  Tensor windows(line.data, DType::f32, {n_windows, kWindowKeys});
  windows.stride[0] = kWindowQueries;
  return windows;
}

}  // namespace

AdaptiveNorm read_adaptive_norm(Context& context, WeightTable& table, const std::string& name,
                                std::int64_t c, std::int64_t c_cond) {
  AdaptiveNorm block;
  block.norm = take_norm_without_bias(context, table, name + ".layernorm_s", c_cond);
  block.gate = take_map(context, table, name + ".linear_s", c, c_cond, true);
  block.shift = take_map(context, table, name + ".linear_nobias_s", c, c_cond);
  return block;
}

ConditionedAttention read_conditioned_attention(Context& context, WeightTable& table,
                                                const std::string& name,
                                                const DiffusionShape& shape) {
  ConditionedAttention block;
  block.norm = read_adaptive_norm(context, table, name + ".layernorm_a", shape.c, shape.c_cond);
  const std::string norm_pair = name + ".layernorm_z";
  block.norm_pair = table.has(norm_pair + ".bias")
                        ? table.take_norm(context, norm_pair, shape.c_pair, kNormEps)
                        : take_norm_without_bias(context, table, norm_pair, shape.c_pair);
  block.bias = take_map(context, table, name + ".linear_nobias_z", shape.n_heads, shape.c_pair);
  block.heads = read_heads(context, table, name + ".attention", shape.c, shape.n_heads,
                           shape.c / shape.n_heads, true);
  block.last = take_map(context, table, name + ".linear_a_last", shape.c, shape.c_cond, true);
  return block;
}

ConditionedTransition read_conditioned_transition(Context& context, WeightTable& table,
                                                  const std::string& name,
                                                  const DiffusionShape& shape) {
  ConditionedTransition block;
  const std::int64_t hidden = shape.c * shape.n_transition;
  block.norm = read_adaptive_norm(context, table, name + ".adaln", shape.c, shape.c_cond);
  std::vector<LinearPart> parts = {LinearPart{name + ".linear_nobias_a1", hidden},
                                   LinearPart{name + ".linear_nobias_a2", hidden}};
  const std::string third = name + ".linear_nobias_a3";
  if (table.has(third + ".weight")) parts.push_back({third, hidden});
  block.up = take_maps(context, table, parts, shape.c, false);
  block.down = take_map(context, table, name + ".linear_nobias_b", shape.c, hidden);
  block.gate = take_map(context, table, name + ".linear_s", shape.c, shape.c_cond, true);
  return block;
}

WindowAttention read_window_attention(Context& context, WeightTable& table, const std::string& name,
                                      std::int64_t c, std::int64_t c_pair, std::int64_t n_heads) {
  WindowAttention block;
  block.norm = table.take_norm(context, name + ".layernorm_a", c, kNormEps);
  block.norm_pair = table.take_norm(context, name + ".layernorm_z", c_pair, kNormEps);
  block.bias = take_map(context, table, name + ".linear_nobias_z", n_heads, c_pair);
  block.heads = read_heads(context, table, name + ".attention", c, n_heads, c / n_heads, true);
  return block;
}

Tensor adaptive_norm(const BlockContext& run, const AdaptiveNorm& block, const Tensor& a,
                     const Tensor& s) {
  const Tensor out = normalised(run, a, {{}, {}, block.norm.eps});
  const auto scope = run.arena.scope();
  const Tensor n = normalised(run, s, block.norm);
  ops::map(run.context, ops::map_gate_shift(product(run, n, block.gate), out,
                                            product(run, n, block.shift), out));
  return out;
}

void write_conditioned_attention(const BlockContext& run, const ConditionedAttention& block,
                                 const Tensor& a, const Tensor& s, const Tensor& z,
                                 const Tensor& mask, const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  const std::int64_t n = z.shape[0];
  const Tensor bias =
      float_product(run, normalised(run, rows_of_pairs(z), block.norm_pair), block.bias);
  ops::DotProductAttention op;
  op.bias = repeated(permuted(split_axis(bias, 0, n), {2, 0, 1}), 0);
  if (!mask.empty()) op.key_mask = repeated(mask, 0);
  op.masked_value = kMaskedLogit;
  const auto lines = [&](const Tensor& heads) { return split_axis(heads, 0, n); };
  const Tensor heads =
      gated_heads(run, op, block.heads, adaptive_norm(run, block.norm, a, s), lines);
  const Tensor gate = product(run, as_operand(run, s), block.last);
  write_gated(run, gate, product(run, heads, block.heads.out), target);
}

void add_conditioned_attention(const BlockContext& run, const ConditionedAttention& block,
                               const Tensor& a, const Tensor& s, const Tensor& z,
                               const Tensor& mask) {
  write_conditioned_attention(run, block, a, s, z, mask, {a, a});
}

void write_conditioned_transition(const BlockContext& run, const ConditionedTransition& block,
                                  const Tensor& a, const Tensor& s, const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  const std::int64_t hidden = block.down.n_in;
  const Tensor parts = product(run, adaptive_norm(run, block.norm, a, s), block.up);
  const auto part = [&](int i) { return parts.slice(1, i * hidden, (i + 1) * hidden); };
  const Tensor gated = part(0);
  if (block.up.n_out == 3 * hidden) {
    ops::map(
        run.context,
        ops::make_map({gated, part(1), part(2)},
                      {{MapCode::silu}, {MapCode::multiply, 1}, {MapCode::multiply, 2}}, gated));
  } else {
    ops::map(run.context, ops::map_glu(MapCode::silu, gated, part(1), gated));
  }
  const Tensor gate = product(run, as_operand(run, s), block.gate);
  write_gated(run, gate, product(run, gated, block.down), target);
}

void add_conditioned_transition(const BlockContext& run, const ConditionedTransition& block,
                                const Tensor& a, const Tensor& s) {
  write_conditioned_transition(run, block, a, s, {a, a});
}

void write_window_attention(const BlockContext& run, const WindowAttention& block, const Tensor& a,
                            const Tensor& pair, const Tensor& mask, const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  Context& context = run.context;
  const std::int64_t n = a.shape[0], n_windows = (n + kWindowQueries - 1) / kWindowQueries;
  const std::int64_t n_rows = n_windows * kWindowQueries;  // the last of which may be no atoms
  const std::int64_t n_pairs = n_windows * kWindowQueries * kWindowKeys;
  const GatedHeads& heads = block.heads;
  const std::int64_t width = heads.n_heads * heads.d_head;
  const Tensor bias = run.arena.take(DType::f32, {n_pairs, heads.n_heads});
  {
    const auto pair_scope = run.arena.scope();
    const Tensor pairs(pair.data, pair.dtype, {n_pairs, pair.shape[3]});
    multiply(run, normalised(run, pairs, block.norm_pair), block.bias, bias);
  }
  const Tensor x = normalised(run, a, block.norm);
  // Keys and values, with zeros in front and behind for windows at the ends.
  const Tensor padded = take_operand(run, n_rows + 2 * kBefore, 2 * width);
  fill(run, padded.slice(0, 0, kBefore), 0);
  fill(run, padded.slice(0, n + kBefore, n_rows + 2 * kBefore), 0);
  multiply(run, x, heads.key_value, padded.slice(0, kBefore, n + kBefore));
  const Tensor query = take_operand(run, n_rows, width);
  fill(run, query.slice(0, n, n_rows), 0);
  multiply(run, x, heads.query, query.slice(0, 0, n));
  const auto split = [&](const Tensor& rows) { return split_axis(rows, 1, heads.d_head); };
  const Tensor attended = take_operand(run, n_rows, width);
  ops::DotProductAttention op;
  op.q = split_axis(split(query), 0, kWindowQueries);
  op.k = windows_of(split(padded.slice(1, 0, width)), n_windows);
  op.v = windows_of(split(padded.slice(1, width, 2 * width)), n_windows);
  op.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(heads.d_head)));
  op.bias = permuted(split_axis(split_axis(bias, 0, kWindowKeys), 0, kWindowQueries), {0, 3, 1, 2});
  op.key_mask = window_mask(run, mask, n, n_windows);
  op.masked_value = kMaskedLogit;
  op.out = split_axis(split(attended), 0, kWindowQueries);
  ops::dot_product_attention(context, op);
  const Tensor of_atoms = attended.slice(0, 0, n);
  ops::map(context, ops::map_gate(product(run, x, heads.gate), of_atoms, of_atoms));
  write_product(run, of_atoms, heads.out, target);
}

void add_window_attention(const BlockContext& run, const WindowAttention& block, const Tensor& a,
                          const Tensor& pair, const Tensor& mask) {
  write_window_attention(run, block, a, pair, mask, {a, a});
}

}  // namespace biogpu::models
