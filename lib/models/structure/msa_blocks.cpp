#include "lib/models/structure/msa_blocks.hpp"

#include <algorithm>
#include <array>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/normalisation/softmax.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models {
namespace {

using ops::MapCode;
using tensor::Context;
using tensor::DType;
using tensor::LinearPart;
using tensor::merge_axes;
using tensor::permuted;
using tensor::repeated;
using tensor::split_axis;
using tensor::Tensor;
using tensor::transposed;
using tensor::WeightTable;

constexpr float kMinRows = 1e-3f;
// Numbers of outer products at a time: 2^25 in fp32 are 128 MB.
constexpr std::int64_t kOuterNumbers = std::int64_t{1} << 25;

// As the last step, where there is one.
void add_residual(ops::Map& map, const Tensor& residual) {
  if (residual.empty()) return;
  const auto slot = static_cast<std::uint8_t>(map.n_inputs);
  map.inputs[slot].x = residual;
  map.steps[static_cast<std::size_t>(map.n_steps)] = {MapCode::add, slot};
  ++map.n_inputs;
  ++map.n_steps;
}

// The update is what the map gives of means over all n_rows rows; y: f32 [n, N, c], without its
// bias. counts: [n, N, 1], rows that both columns have; empty: all of them. target: [n, N, c].
void write_mean(Context& context, const OuterProductMean& block, const Tensor& y, float n_rows,
                const Tensor& counts, const UpdateTarget& target) {
  using ops::Map;
  const Tensor& bias = block.out_bias;
  Map map;
  if (counts.empty() && block.divides_bias) {
    const float scale = 1 / (n_rows + kMinRows);
    map = ops::make_map({y, bias},
                        {{MapCode::multiply_add, Map::kNumber, 1, n_rows},
                         {MapCode::multiply, Map::kNumber, 0, scale}},
                        target.out);
  } else if (counts.empty()) {
    map = ops::map_add(y, bias, target.out);
  } else if (block.divides_bias) {
    map = ops::make_map({counts, y, bias},
                        {{MapCode::add, Map::kNumber, 0, kMinRows},
                         {MapCode::keep, Map::kKept},
                         {MapCode::load, 1},
                         {MapCode::multiply_add, Map::kNumber, 2, n_rows},
                         {MapCode::divide, Map::kKept}},
                        target.out);
  } else {
    map = ops::make_map({counts, y, bias},
                        {{MapCode::maximum, Map::kNumber, 0, 1},
                         {MapCode::keep, Map::kKept},
                         {MapCode::load, 1},
                         {MapCode::multiply, Map::kNumber, 0, n_rows},
                         {MapCode::divide, Map::kKept},
                         {MapCode::add, 2}},
                        target.out);
  }
  add_residual(map, target.residual);
  ops::map(context, map);
}

}  // namespace

OuterProductMean read_outer_product_mean(Context& context, WeightTable& table,
                                         const std::string& name, const MsaShape& shape) {
  OuterProductMean block;
  block.c_outer = shape.c_outer;
  block.divides_bias = shape.divides_bias;
  block.norm = table.take_norm(context, name + ".layer_norm", shape.c_msa, kNormEps);
  const std::array<LinearPart, 2> sides = {LinearPart{name + ".linear_1", shape.c_outer},
                                           LinearPart{name + ".linear_2", shape.c_outer}};
  const bool has_bias = std::any_of(sides.begin(), sides.end(), [&](const LinearPart& side) {
    return table.has(side.name + ".bias");
  });
  block.sides = take_maps(context, table, sides, shape.c_msa, has_bias);
  block.out =
      take_map(context, table, name + ".linear_out", shape.c_pair, shape.c_outer * shape.c_outer);
  const tensor::HostTensor bias = table.take(name + ".linear_out.bias", {shape.c_pair});
  block.out_bias = context.upload(bias.view, DType::f32);
  return block;
}

PairWeightedAveraging read_pair_weighted_averaging(Context& context, WeightTable& table,
                                                   const std::string& name, const MsaShape& shape) {
  PairWeightedAveraging block;
  block.n_heads = shape.n_heads;
  block.d_head = shape.d_head;
  const std::int64_t width = shape.n_heads * shape.d_head;
  block.norm = table.take_norm(context, name + ".layernorm_m", shape.c_msa, kNormEps);
  block.norm_pair = table.take_norm(context, name + ".layernorm_z", shape.c_pair, kNormEps);
  block.value = take_map(context, table, name + ".linear_no_bias_mv", width, shape.c_msa);
  block.gate = take_map(context, table, name + ".linear_no_bias_mg", width, shape.c_msa);
  block.weight = take_map(context, table, name + ".linear_no_bias_z", shape.n_heads, shape.c_pair);
  block.out = take_map(context, table, name + ".linear_no_bias_out", shape.c_msa, width);
  return block;
}

void write_outer_product_mean(const BlockContext& run, const OuterProductMean& block,
                              const Tensor& m, const Tensor& mask, const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  Context& context = run.context;
  const std::int64_t n_rows = m.shape[0], n = m.shape[1], c = block.c_outer;
  const auto n_summed = static_cast<float>(n_rows);
  const Tensor sides = product(run, normalised(run, rows_of_pairs(m), block.norm), block.sides);
  Tensor counts;  // of rows that both columns have
  if (!mask.empty()) {
    const Tensor seen(mask.data, DType::f32, {n_rows * n, 1});
    ops::map(context, ops::map_multiply(sides, seen, sides));
    counts = run.arena.take(DType::f32, {n, n});
    ops::matmul(context, {transposed(mask), mask, counts});
  }
  const auto columns = [&](const Tensor& side) {  // [S, N, c]
    const Tensor dense = run.arena.take(side.dtype, {n_rows * n, c});
    ops::permute(context, {side, dense});
    return split_axis(dense, 0, n);
  };
  const Tensor a = columns(sides.slice(1, 0, c)), b = columns(sides.slice(1, c, 2 * c));
  const std::int64_t step = std::clamp<std::int64_t>(kOuterNumbers / (n * c * c), 1, n);
  for (std::int64_t begin = 0; begin < n; begin += step) {
    const auto step_scope = run.arena.scope();
    const std::int64_t end = std::min(begin + step, n), n_lines = end - begin;
    const DType type = context.compute_dtype();
    // Means over all rows: sums over many rows are too large for fp16.
    const Tensor means = run.arena.take(type, {n_lines * c, n * c});
    ops::matmul(context, {transposed(merge_axes(a.slice(1, begin, end), 1)), merge_axes(b, 1),
                          means, 1 / n_summed});
    const Tensor outer = run.arena.take(type, {n_lines * n, c * c});
    ops::permute(context, {permuted(split_axis(split_axis(means, 1, c), 0, c), {0, 2, 1, 3}),
                           split_axis(split_axis(outer, 1, c), 0, n)});
    const Tensor y = split_axis(float_product(run, outer, block.out), 0, n);
    const auto lines = [&](const Tensor& all) {
      return all.empty() ? Tensor() : split_axis(all, 0, n).slice(0, begin, end);
    };
    Tensor count;
    if (!mask.empty()) count = repeated(counts.slice(0, begin, end), 2);
    write_mean(context, block, y, n_summed, count, {lines(target.residual), lines(target.out)});
  }
}

void add_outer_product_mean(const BlockContext& run, const OuterProductMean& block, const Tensor& m,
                            const Tensor& mask, const Tensor& z) {
  const Tensor rows = rows_of_pairs(z);
  write_outer_product_mean(run, block, m, mask, {rows, rows});
}

void write_pair_weighted_averaging(const BlockContext& run, const PairWeightedAveraging& block,
                                   const Tensor& m, const Tensor& z, const Tensor& token_mask,
                                   const UpdateTarget& target) {
  const auto scope = run.arena.scope();
  Context& context = run.context;
  const std::int64_t n_rows = m.shape[0], n = m.shape[1], width = block.n_heads * block.d_head;
  const Tensor rows = rows_of_pairs(m);
  const Tensor weights = run.arena.take(context.compute_dtype(), {n, n, block.n_heads});
  {
    const auto pair_scope = run.arena.scope();
    const Tensor logits =
        float_product(run, normalised(run, rows_of_pairs(z), block.norm_pair), block.weight);
    ops::Softmax op;
    op.x = split_axis(logits, 0, n);
    op.axis = 1;
    if (!token_mask.empty()) {  // what is added to the logits of an axis
      const Tensor column(token_mask.data, DType::f32, {n, 1});
      op.mask = run.arena.take(DType::f32, {n, 1});
      ops::map(context, ops::map_scale_shift(column, -kMaskedLogit, kMaskedLogit, op.mask));
    }
    op.out = weights;
    ops::softmax(context, op);
  }
  const Tensor x = normalised(run, rows, block.norm);
  const auto heads = [&](const Tensor& all) {  // [S, heads, N, h]
    return permuted(split_axis(split_axis(all, 1, block.d_head), 0, n), {0, 2, 1, 3});
  };
  const Tensor value = product(run, x, block.value);
  const Tensor means = take_operand(run, n_rows * n, width);
  ops::matmul(context, {repeated(permuted(weights, {2, 0, 1}), 0), heads(value), heads(means)});
  ops::map(context, ops::map_gate(product(run, x, block.gate), means, means));
  write_product(run, means, block.out, target);
}

void add_pair_weighted_averaging(const BlockContext& run, const PairWeightedAveraging& block,
                                 const Tensor& m, const Tensor& z, const Tensor& token_mask) {
  const Tensor rows = rows_of_pairs(m);
  write_pair_weighted_averaging(run, block, m, z, token_mask, {rows, rows});
}

}  // namespace biogpu::models
