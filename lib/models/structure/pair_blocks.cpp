#include "lib/models/structure/pair_blocks.hpp"

#include <algorithm>
#include <array>

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/triangle/triangle_product.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models {
namespace {

using ops::MapCode;
using tensor::Context;
using tensor::DType;
using tensor::LinearPart;
using tensor::permuted;
using tensor::split_axis;
using tensor::Tensor;
using tensor::transposed;
using tensor::WeightTable;

// Rows of a transition at a time: its hidden numbers are eight times its input.
constexpr std::int64_t kTransitionRows = std::int64_t{1} << 15;

}  // namespace

TriangleProduct read_triangle_product(Context& context, WeightTable& table, const std::string& name,
                                      const PairShape& shape) {
  TriangleProduct block;
  block.c_product = shape.c_product;
  block.norm_in = table.take_norm(context, name + ".layer_norm_in", shape.c_pair, kNormEps);
  const std::array<LinearPart, 5> parts = {LinearPart{name + ".linear_a_p", shape.c_product},
                                           LinearPart{name + ".linear_b_p", shape.c_product},
                                           LinearPart{name + ".linear_a_g", shape.c_product},
                                           LinearPart{name + ".linear_b_g", shape.c_product},
                                           LinearPart{name + ".linear_g", shape.c_pair}};
  const bool has_bias = std::any_of(parts.begin(), parts.end(), [&](const LinearPart& part) {
    return table.has(part.name + ".bias");
  });
  block.projections = take_maps(context, table, parts, shape.c_pair, has_bias);
  block.norm_out = table.take_norm(context, name + ".layer_norm_out", shape.c_product, kNormEps);
  block.out = take_map(context, table, name + ".linear_z", shape.c_pair, shape.c_product,
                       table.has(name + ".linear_z.bias"));
  return block;
}

TriangleAttention read_triangle_attention(Context& context, WeightTable& table,
                                          const std::string& name, const PairShape& shape) {
  TriangleAttention block;
  block.norm = table.take_norm(context, name + ".layer_norm", shape.c_pair, kNormEps);
  block.bias = take_map(context, table, name + ".linear", shape.n_heads, shape.c_pair);
  block.heads =
      read_heads(context, table, name + ".mha", shape.c_pair, shape.n_heads, shape.d_head, false);
  return block;
}

Transition read_transition(Context& context, WeightTable& table, const std::string& name,
                           std::int64_t c, std::int64_t n_transition) {
  Transition block;
  const std::int64_t hidden = c * n_transition;
  block.is_relu = table.has(name + ".linear_1.weight");
  if (block.is_relu) {
    block.norm = table.take_norm(context, name + ".layer_norm", c, kNormEps);
    block.up = take_map(context, table, name + ".linear_1", hidden, c, true);
    block.down = take_map(context, table, name + ".linear_2", c, hidden, true);
    return block;
  }
  block.norm = table.take_norm(context, name + ".layernorm1", c, kNormEps);
  const std::array<LinearPart, 2> parts = {LinearPart{name + ".linear_no_bias_a", hidden},
                                           LinearPart{name + ".linear_no_bias_b", hidden}};
  block.up = take_maps(context, table, parts, c, false);
  block.down = take_map(context, table, name + ".linear_no_bias", c, hidden);
  return block;
}

PairBiasAttention read_pair_bias_attention(Context& context, WeightTable& table,
                                           const std::string& name, std::int64_t c_token,
                                           std::int64_t c_pair, std::int64_t n_heads) {
  PairBiasAttention block;
  block.norm = table.take_norm(context, name + ".layernorm_a", c_token, kNormEps);
  block.norm_pair = table.take_norm(context, name + ".layernorm_z", c_pair, kNormEps);
  block.bias = take_map(context, table, name + ".linear_nobias_z", n_heads, c_pair);
  block.heads =
      read_heads(context, table, name + ".attention", c_token, n_heads, c_token / n_heads, true);
  return block;
}

void write_triangle_product(const BlockContext& run, const TriangleProduct& block, Edges edges,
                            const Tensor& z, const Tensor& mask, const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  const auto bytes = static_cast<std::int64_t>(ops::triangle_workspace(
      z.shape[0], z.shape[2], block.c_product, run.context.compute_dtype()));
  ops::TriangleProduct op;
  op.z = z;
  op.mask = mask;
  op.norm_in = block.norm_in;
  op.norm_out = block.norm_out;
  op.projections = &block.projections;
  op.map_out = &block.out;
  op.outgoing = edges == Edges::outgoing;
  op.workspace = run.arena.take(DType::f32, {bytes / 4});
  op.residual = target.residual;
  op.out = target.out;
  ops::triangle_product(run.context, op);
}

void add_triangle_product(const BlockContext& run, const TriangleProduct& block, Edges edges,
                          const Tensor& z, const Tensor& mask) {
  const Tensor rows = rows_of_pairs(z);
  write_triangle_product(run, block, edges, z, mask, {rows, rows});
}

void write_triangle_attention(const BlockContext& run, const TriangleAttention& block, Node node,
                              const Tensor& z, const Tensor& mask, const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  const bool ending = node == Node::ending;
  const std::int64_t n = z.shape[0];
  const Tensor x = normalised(run, rows_of_pairs(z), block.norm);
  const Tensor bias = split_axis(float_product(run, x, block.bias), 0, n);  // [N, N, heads]
  ops::DotProductAttention op;
  const bool by_columns = ending != block.swaps_bias;
  op.bias = tensor::repeated(permuted(bias, {2, by_columns ? 1 : 0, by_columns ? 0 : 1}), 0);
  if (!mask.empty()) op.key_mask = ending ? transposed(mask) : mask;
  op.masked_value = kMaskedLogit;
  const auto lines = [&](const Tensor& heads) {
    const Tensor pairs = split_axis(heads, 0, n);
    return ending ? permuted(pairs, {1, 0, 2, 3}) : pairs;
  };
  write_product(run, gated_heads(run, op, block.heads, x, lines), block.heads.out, target);
}

void add_triangle_attention(const BlockContext& run, const TriangleAttention& block, Node node,
                            const Tensor& z, const Tensor& mask) {
  const Tensor rows = rows_of_pairs(z);
  write_triangle_attention(run, block, node, z, mask, {rows, rows});
}

void write_transition(const BlockContext& run, const Transition& block, const Tensor& x,
                      const UpdateTarget& target) {
  const std::int64_t hidden = block.down.n_in;
  for (std::int64_t begin = 0; begin < x.shape[0]; begin += kTransitionRows) {
    const auto scope = run.arena.scope();
    const std::int64_t end = std::min(begin + kTransitionRows, x.shape[0]);
    const Tensor rows = x.slice(0, begin, end);
    const Tensor residual =
        target.residual.empty() ? Tensor() : target.residual.slice(0, begin, end);
    const UpdateTarget rows_target{residual, target.out.slice(0, begin, end)};
    const Tensor x_norm = normalised(run, rows, block.norm);
    if (block.is_relu) {
      const Tensor inner = take_operand(run, rows.shape[0], hidden);
      ops::gemm(run.context, {x_norm, &block.up, ops::Activation::relu, {}, inner});
      write_product(run, inner, block.down, rows_target);
      continue;
    }
    const Tensor halves = product(run, x_norm, block.up);
    const Tensor gated = halves.slice(1, 0, hidden);
    ops::map(run.context,
             ops::map_glu(MapCode::silu, gated, halves.slice(1, hidden, 2 * hidden), gated));
    write_product(run, gated, block.down, rows_target);
  }
}

void add_transition(const BlockContext& run, const Transition& block, const Tensor& x) {
  write_transition(run, block, x, {x, x});
}

void write_pair_bias_attention(const BlockContext& run, const PairBiasAttention& block,
                               const Tensor& s, const Tensor& z, const Tensor& mask,
                               const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  const std::int64_t n = z.shape[0];
  const Tensor bias = run.arena.take(DType::f32, {n * n, block.bias.n_out});
  {
    const auto norm_scope = run.arena.scope();
    multiply(run, normalised(run, rows_of_pairs(z), block.norm_pair), block.bias, bias);
  }
  ops::DotProductAttention op;
  op.bias = tensor::repeated(permuted(split_axis(bias, 0, n), {2, 0, 1}), 0);
  if (!mask.empty()) op.key_mask = tensor::repeated(mask, 0);
  op.masked_value = kMaskedLogit;
  const auto lines = [&](const Tensor& heads) { return split_axis(heads, 0, n); };
  const Tensor heads = gated_heads(run, op, block.heads, normalised(run, s, block.norm), lines);
  write_product(run, heads, block.heads.out, target);
}

void add_pair_bias_attention(const BlockContext& run, const PairBiasAttention& block,
                             const Tensor& s, const Tensor& z, const Tensor& mask) {
  write_pair_bias_attention(run, block, s, z, mask, {s, s});
}

}  // namespace biogpu::models
