#include "lib/c_api/block_kinds.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/c_api/block_arrays.hpp"
#include "lib/c_api/calls.hpp"
#include "lib/core/error.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"
#include "lib/models/structure/msa_blocks.hpp"
#include "lib/models/structure/pair_blocks.hpp"
#include "lib/ops/elementwise/map.hpp"

namespace biogpu::c_api {
namespace {

using models::BlockContext;
using models::UpdateTarget;
using tensor::Context;
using tensor::Tensor;
using Inputs = std::vector<Tensor>;
using InputKind = InputSpec::Kind;

// The weights of the block to make.
struct Weights {
  Context& context;
  tensor::WeightTable& table;
  const float eps;

  bool has(const char* name) { return table.has(full(name)); }
  // The first extent of a weight; 1 where it is missing, which the table tells at the end.
  std::int64_t rows(const char* name) {
    const std::int64_t n = table.n_rows(full(name));
    if (n < 1) throw Error(ErrorCode::bad_input, fmt::format("{}: no numbers", name));
    return n;
  }
  // Rows of `name` for each one of `unit`; 1 where one of them is missing.
  std::int64_t rows_for_each(const char* name, const char* unit) {
    if (!has(name) || !has(unit)) return 1;
    const std::int64_t n = rows(name), n_units = rows(unit);
    if (n % n_units != 0)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: {} rows, no multiple of the {} of {}", name, n, n_units, unit));
    return n / n_units;
  }
  // The rows of `heads` if they divide the width that those of `name` are; 1 where one of them is
  // missing.
  std::int64_t heads_of(const char* heads, const char* name) {
    require_head(rows_for_each(name, heads));
    return has(heads) && has(name) ? rows(heads) : 1;
  }
  void require_head(std::int64_t d) const {
    require(context.kind() != Context::Kind::gpu || d <= kMaxGpuHead,
            "heads of more than 192 numbers on a GPU");
  }

 private:
  static std::string full(const char* name) { return fmt::format("{}.{}", kBlock, name); }
};

InputSpec pairs_of(std::int64_t width) { return {"pairs", {kTokens, kTokens, width}}; }
InputSpec tokens_of(std::int64_t width) { return {"tokens", {kTokens, width}}; }
InputSpec condition_of(std::int64_t width) { return {"condition", {kTokens, width}}; }
InputSpec alignment_of(std::int64_t width) { return {"msa", {kRows, kTokens, width}}; }
InputSpec mask_of(std::vector<std::int64_t> shape) {
  return {"mask", std::move(shape), InputKind::mask};
}

MadeBlock make_product(Weights& weights, models::Edges edges) {
  models::PairShape shape;
  shape.c_pair = weights.rows("layer_norm_in.weight");
  shape.c_product = weights.rows("layer_norm_out.weight");
  models::TriangleProduct block =
      models::read_triangle_product(weights.context, weights.table, kBlock, shape);
  block.norm_in.eps = block.norm_out.eps = weights.eps;
  return {{pairs_of(shape.c_pair), mask_of({kTokens, kTokens})},
          0,
          0,
          [block, edges](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_triangle_product(run, block, edges, in[0], in[1], target);
          }};
}

MadeBlock make_attention(Weights& weights, models::Node node) {
  models::PairShape shape;
  shape.c_pair = weights.rows("layer_norm.weight");
  shape.n_heads = weights.rows("linear.weight");
  shape.d_head = weights.rows_for_each("mha.linear_q.weight", "linear.weight");
  weights.require_head(shape.d_head);
  models::TriangleAttention block =
      models::read_triangle_attention(weights.context, weights.table, kBlock, shape);
  block.norm.eps = weights.eps;
  return {{pairs_of(shape.c_pair), mask_of({kTokens, kTokens})},
          0,
          0,
          [block, node](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_triangle_attention(run, block, node, in[0], in[1], target);
          }};
}

// of_rows: what the block is for, of a given width.
MadeBlock make_transition(Weights& weights, InputSpec (*of_rows)(std::int64_t width)) {
  const bool has_gate = !weights.has("linear_1.weight");
  const char* const norm = has_gate ? "layernorm1.weight" : "layer_norm.weight";
  const std::int64_t c = weights.rows(norm);
  models::Transition block = models::read_transition(
      weights.context, weights.table, kBlock, c,
      weights.rows_for_each(has_gate ? "linear_no_bias_a.weight" : "linear_1.weight", norm));
  block.norm.eps = weights.eps;
  return {{of_rows(c)},
          0,
          1,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_transition(run, block, rows_of(in[0]), target);
          }};
}

MadeBlock make_pair_bias_attention(Weights& weights) {
  const std::int64_t c = weights.rows("layernorm_a.weight");
  const std::int64_t c_pair = weights.rows("layernorm_z.weight");
  models::PairBiasAttention block = models::read_pair_bias_attention(
      weights.context, weights.table, kBlock, c, c_pair,
      weights.heads_of("linear_nobias_z.weight", "layernorm_a.weight"));
  block.norm.eps = block.norm_pair.eps = weights.eps;
  return {{tokens_of(c), pairs_of(c_pair), mask_of({kTokens})},
          0,
          1,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_pair_bias_attention(run, block, in[0], in[1], in[2], target);
          }};
}

MadeBlock make_outer_product_mean(Weights& weights) {
  models::MsaShape shape;
  shape.c_msa = weights.rows("layer_norm.weight");
  shape.c_outer = weights.rows("linear_1.weight");
  shape.c_pair = weights.rows("linear_out.weight");
  models::OuterProductMean block =
      models::read_outer_product_mean(weights.context, weights.table, kBlock, shape);
  block.norm.eps = weights.eps;
  return {{alignment_of(shape.c_msa),
           mask_of({kRows, kTokens}),
           {"pairs", {kTokens, kTokens, shape.c_pair}, InputKind::optional_numbers}},
          2,
          0,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_outer_product_mean(run, block, in[0], in[1], target);
          }};
}

MadeBlock make_pair_weighted_averaging(Weights& weights) {
  models::MsaShape shape;
  shape.c_msa = weights.rows("layernorm_m.weight");
  shape.c_pair = weights.rows("layernorm_z.weight");
  shape.n_heads = weights.rows("linear_no_bias_z.weight");
  shape.d_head = weights.rows_for_each("linear_no_bias_mv.weight", "linear_no_bias_z.weight");
  models::PairWeightedAveraging block =
      models::read_pair_weighted_averaging(weights.context, weights.table, kBlock, shape);
  block.norm.eps = block.norm_pair.eps = weights.eps;
  return {{alignment_of(shape.c_msa), pairs_of(shape.c_pair), mask_of({kTokens})},
          0,
          0,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_pair_weighted_averaging(run, block, in[0], in[1], in[2], target);
          }};
}

MadeBlock make_adaptive_norm(Weights& weights) {
  const std::int64_t c = weights.rows("linear_s.weight");
  const std::int64_t c_cond = weights.rows("layernorm_s.weight");
  models::AdaptiveNorm block =
      models::read_adaptive_norm(weights.context, weights.table, kBlock, c, c_cond);
  block.norm.eps = weights.eps;
  return {{tokens_of(c), condition_of(c_cond)},
          0,
          2,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            const auto scope = run.arena.scope();
            const Tensor norm = models::adaptive_norm(run, block, in[0], in[1]);
            ops::map(run.context, target.residual.empty()
                                      ? ops::map_copy(norm, target.out)
                                      : ops::map_add(norm, target.residual, target.out));
          }};
}

MadeBlock make_conditioned_attention(Weights& weights) {
  models::DiffusionShape shape;
  shape.c = weights.rows("layernorm_a.linear_s.weight");
  shape.c_cond = weights.rows("layernorm_a.layernorm_s.weight");
  shape.c_pair = weights.rows("layernorm_z.weight");
  shape.n_heads = weights.heads_of("linear_nobias_z.weight", "layernorm_a.linear_s.weight");
  models::ConditionedAttention block =
      models::read_conditioned_attention(weights.context, weights.table, kBlock, shape);
  block.norm.norm.eps = block.norm_pair.eps = weights.eps;
  return {
      {tokens_of(shape.c), condition_of(shape.c_cond), pairs_of(shape.c_pair), mask_of({kTokens})},
      0,
      2,
      [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
        models::write_conditioned_attention(run, block, in[0], in[1], in[2], in[3], target);
      }};
}

MadeBlock make_conditioned_transition(Weights& weights) {
  models::DiffusionShape shape;
  shape.c = weights.rows("adaln.linear_s.weight");
  shape.c_cond = weights.rows("adaln.layernorm_s.weight");
  shape.n_transition = weights.rows_for_each("linear_nobias_a1.weight", "adaln.linear_s.weight");
  models::ConditionedTransition block =
      models::read_conditioned_transition(weights.context, weights.table, kBlock, shape);
  block.norm.norm.eps = weights.eps;
  return {{tokens_of(shape.c), condition_of(shape.c_cond)},
          0,
          2,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_conditioned_transition(run, block, in[0], in[1], target);
          }};
}

MadeBlock make_window_attention(Weights& weights) {
  const std::int64_t c = weights.rows("layernorm_a.weight");
  const std::int64_t c_pair = weights.rows("layernorm_z.weight");
  models::WindowAttention block = models::read_window_attention(
      weights.context, weights.table, kBlock, c, c_pair,
      weights.heads_of("linear_nobias_z.weight", "layernorm_a.weight"));
  block.norm.eps = block.norm_pair.eps = weights.eps;
  return {{{"atoms", {kTokens, c}},
           {"pairs", {kWindows, models::kWindowQueries, models::kWindowKeys, c_pair}},
           mask_of({kTokens})},
          0,
          0,
          [block](const BlockContext& run, const Inputs& in, const UpdateTarget& target) {
            models::write_window_attention(run, block, in[0], in[1], in[2], target);
          }};
}

using MakeBlock = MadeBlock (*)(Weights& weights);
constexpr std::pair<const char*, MakeBlock> kKinds[] = {
    {"triangle-product-out",
     [](Weights& weights) { return make_product(weights, models::Edges::outgoing); }},
    {"triangle-product-in",
     [](Weights& weights) { return make_product(weights, models::Edges::incoming); }},
    {"triangle-attention-start",
     [](Weights& weights) { return make_attention(weights, models::Node::starting); }},
    {"triangle-attention-end",
     [](Weights& weights) { return make_attention(weights, models::Node::ending); }},
    {"pair-transition", [](Weights& weights) { return make_transition(weights, pairs_of); }},
    {"token-transition", [](Weights& weights) { return make_transition(weights, tokens_of); }},
    {"pair-bias-attention", make_pair_bias_attention},
    {"outer-product-mean", make_outer_product_mean},
    {"pair-weighted-averaging", make_pair_weighted_averaging},
    {"adaptive-norm", make_adaptive_norm},
    {"conditioned-attention", make_conditioned_attention},
    {"conditioned-transition", make_conditioned_transition},
    {"window-attention", make_window_attention},
};

}  // namespace

MadeBlock make_block(Context& context, const std::string& kind, tensor::WeightTable& table,
                     float eps) {
  std::string names;
  for (const auto& [name, make] : kKinds) {
    if (kind == name) {
      Weights weights{context, table, eps};
      return make(weights);
    }
    if (!names.empty()) names += ", ";
    names += name;
  }
  throw Error(ErrorCode::usage, fmt::format("kind {}; expected one of {}", kind, names));
}

}  // namespace biogpu::c_api
