#include "lib/models/pairformer/pairformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "lib/ops/elementwise/map.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kMaxPairWidth = 1 << 14;
constexpr std::int64_t kMaxPairHead = 192;
constexpr std::int64_t kMaxMsaBlocks = 1 << 10;
constexpr std::int64_t kMsaTransition = 4, kSingleTransition = 4;
// Part of a whole model's names.
constexpr char kPairformerStack[] = "pairformer_stack.";

}  // namespace

Pairformer::Pairformer(const std::string& folder, const ModelConfig& config,
                       tensor::Context& context, const LoadOptions& options)
    : TrunkModel(context) {
  read_config(config);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  table.alias_prefix(kPairformerStack, "");
  for (std::int64_t i = 0; i < info_.n_msa_blocks; ++i)
    msa_blocks_.push_back(read_msa_block(table, i));
  for (std::int64_t i = 0; i < info_.n_blocks; ++i) blocks_.push_back(read_block(table, i));
  table.finish();
  info_.n_parameters = table.n_taken();
}

void Pairformer::read_config(const ModelConfig& config) {
  info_.n_blocks = config.count_or("n_blocks", 48, 1 << 10);
  info_.c_single = config.integer_or("c_s", 384);
  if (info_.c_single < 0 || info_.c_single > kMaxPairWidth)
    config.fail(fmt::format("c_s is {}; expected 0 to {}", info_.c_single, kMaxPairWidth));
  PairShape& pair = info_.pair;
  pair.c_pair = config.count_or("c_z", 128, kMaxPairWidth);
  pair.d_head = config.count_or("c_hidden_pair_att", 32, kMaxPairWidth);
  const bool scaled = config.flag_or("hidden_scale_up", false);
  if (scaled && pair.c_pair < pair.d_head)
    config.fail(
        fmt::format("hidden_scale_up needs a c_z of at least c_hidden_pair_att, {}", pair.d_head));
  pair.c_product = config.count_or("c_hidden_mul", scaled ? pair.c_pair : 128, kMaxPairWidth);
  pair.n_heads = config.count_or("no_heads_pair", scaled ? pair.c_pair / pair.d_head : 4, 1 << 10);
  pair.n_transition = config.count_or("num_intermediate_factor", 4, 64);
  info_.swaps_ending_bias = config.flag_or("transpose_bias", false);
  info_.n_single_heads = config.count_or("n_heads", 16, 1 << 10);
  if (info_.c_single % info_.n_single_heads != 0)
    config.fail(
        fmt::format("c_s is {}, no multiple of n_heads, {}", info_.c_single, info_.n_single_heads));
  info_.n_msa_blocks = config.integer_or("n_msa_blocks", 0);
  if (info_.n_msa_blocks < 0 || info_.n_msa_blocks > kMaxMsaBlocks)
    config.fail(
        fmt::format("n_msa_blocks is {}; expected 0 to {}", info_.n_msa_blocks, kMaxMsaBlocks));
  MsaShape& msa = info_.msa;
  msa.c_pair = pair.c_pair;
  msa.c_msa = config.count_or("c_m", 64, kMaxPairWidth);
  msa.c_outer = config.count_or("c_hidden_opm", 32, 1 << 7);
  msa.n_heads = config.count_or("no_heads_msa", 8, 1 << 10);
  msa.d_head = config.count_or("c_hidden_msa_att", 8, kMaxPairWidth);
  msa.divides_bias = config.flag_or("opm_divides_bias", true);
  info_.outer_product_first = config.flag_or("opm_first", true);
  const std::int64_t d_single = info_.c_single / info_.n_single_heads;
  if (context_.kind() == tensor::Context::Kind::gpu &&
      (pair.d_head > kMaxPairHead || d_single > kMaxPairHead))
    config.fail(fmt::format("a head has {} numbers; GPUs have up to {}",
                            std::max(pair.d_head, d_single), kMaxPairHead));
}

Pairformer::PairStack Pairformer::read_pair_stack(tensor::WeightTable& table,
                                                  const std::string& name) {
  const PairShape& pair = info_.pair;
  PairStack stack;
  stack.product_out = read_triangle_product(context_, table, name + "tri_mul_out", pair);
  stack.product_in = read_triangle_product(context_, table, name + "tri_mul_in", pair);
  stack.attention_start = read_triangle_attention(context_, table, name + "tri_att_start", pair);
  stack.attention_end = read_triangle_attention(context_, table, name + "tri_att_end", pair);
  stack.attention_end.swaps_bias = info_.swaps_ending_bias;
  stack.transition =
      read_transition(context_, table, name + "pair_transition", pair.c_pair, pair.n_transition);
  return stack;
}

Pairformer::Block Pairformer::read_block(tensor::WeightTable& table, std::int64_t index) {
  const std::string name = fmt::format("blocks.{}.", index);
  Block block;
  block.pair = read_pair_stack(table, name);
  if (info_.c_single == 0) return block;
  block.single_attention =
      read_pair_bias_attention(context_, table, name + "attention_pair_bias", info_.c_single,
                               info_.pair.c_pair, info_.n_single_heads);
  block.single_transition = read_transition(context_, table, name + "single_transition",
                                            info_.c_single, kSingleTransition);
  return block;
}

Pairformer::MsaBlock Pairformer::read_msa_block(tensor::WeightTable& table, std::int64_t index) {
  const std::string name = fmt::format("msa_module.blocks.{}.", index);
  MsaBlock block;
  block.outer_product =
      read_outer_product_mean(context_, table, name + "outer_product_mean_msa", info_.msa);
  block.pair = read_pair_stack(table, name + "pair_stack.");
  block.changes_rows = !info_.outer_product_first || index + 1 < info_.n_msa_blocks;
  if (!block.changes_rows) return block;
  block.averaging = read_pair_weighted_averaging(
      context_, table, name + "msa_stack.msa_pair_weighted_averaging", info_.msa);
  block.transition = read_transition(context_, table, name + "msa_stack.transition_m",
                                     info_.msa.c_msa, kMsaTransition);
  return block;
}

std::string Pairformer::describe() const {
  const PairShape& pair = info_.pair;
  return fmt::format(
      "architecture\tPairformer\nblocks\t{}\npair_width\t{}\ntriangle_product_width\t{}\n"
      "triangle_attention_heads\t{} x {}\nsingle_width\t{}\nsingle_heads\t{}\nmsa_blocks\t{}\n"
      "msa_width\t{}\nparameters\t{}\n",
      info_.n_blocks, pair.c_pair, pair.c_product, pair.n_heads, pair.d_head, info_.c_single,
      info_.c_single == 0 ? 0 : info_.n_single_heads, info_.n_msa_blocks,
      info_.n_msa_blocks == 0 ? 0 : info_.msa.c_msa, info_.n_parameters);
}

std::string Pairformer::title() const {
  return fmt::format("Pairformer of {} blocks, {} parameters", info_.n_blocks, info_.n_parameters);
}

TrunkShape Pairformer::shape() const {
  TrunkShape shape;
  shape.c_single = info_.c_single;
  shape.c_pair = info_.pair.c_pair;
  shape.c_msa = info_.n_msa_blocks == 0 ? 0 : info_.msa.c_msa;
  shape.has_pair_mask = true;
  return shape;
}

void Pairformer::add_pair_stack(const BlockContext& run, const PairStack& stack,
                                const Streams& to) {
  add_triangle_product(run, stack.product_out, Edges::outgoing, to.z, to.pair_mask);
  add_triangle_product(run, stack.product_in, Edges::incoming, to.z, to.pair_mask);
  add_triangle_attention(run, stack.attention_start, Node::starting, to.z, to.pair_mask);
  add_triangle_attention(run, stack.attention_end, Node::ending, to.z, to.pair_mask);
  add_transition(run, stack.transition, rows_of_pairs(to.z));
}

void Pairformer::add_block(const BlockContext& run, const Block& block, const Streams& to) {
  add_pair_stack(run, block.pair, to);
  if (to.s.empty()) return;
  add_pair_bias_attention(run, block.single_attention, to.s, to.z, to.mask);
  add_transition(run, block.single_transition, to.s);
}

void Pairformer::add_msa_block(const BlockContext& run, const MsaBlock& block,
                               const Streams& to) const {
  const bool outer_first = info_.outer_product_first;
  if (outer_first) add_outer_product_mean(run, block.outer_product, to.m, to.msa_mask, to.z);
  if (block.changes_rows) {
    add_pair_weighted_averaging(run, block.averaging, to.m, to.z, to.mask);
    add_transition(run, block.transition, rows_of_pairs(to.m));
  }
  if (!outer_first) add_outer_product_mean(run, block.outer_product, to.m, to.msa_mask, to.z);
  add_pair_stack(run, block.pair, to);
}

void Pairformer::forward(Pass& pass, const TrunkInput& input) const {
  const std::int64_t n = input.n_tokens, c_pair = info_.pair.c_pair;
  const bool has_single = info_.c_single > 0, has_msa = info_.n_msa_blocks > 0;
  const bool has_mask = !input.mask.empty(), has_pair_mask = !input.pair_mask.empty();
  const bool has_msa_mask = has_msa && !input.msa_mask.empty();
  for (const bool is_given : {has_mask, has_pair_mask, has_msa_mask})
    pass.depends_on(is_given ? 1 : 0);
  const Tensor pair = pass.upload(DType::f32, {n, n, c_pair}, input.pair.data());
  Streams to;
  to.z = pass.output("z", {n, n, c_pair});
  Tensor single, rows;
  if (has_single) {
    single = pass.upload(DType::f32, {n, info_.c_single}, input.single.data());
    to.s = pass.output("s", {n, info_.c_single});
  }
  if (has_msa) rows = pass.upload(DType::f32, {input.n_rows, n, info_.msa.c_msa}, input.msa.data());
  if (has_msa_mask) to.msa_mask = pass.upload(DType::f32, {input.n_rows, n}, input.msa_mask.data());
  if (has_mask) to.mask = pass.upload(DType::f32, {n}, input.mask.data());
  if (has_pair_mask) to.pair_mask = pass.upload(DType::f32, {n, n}, input.pair_mask.data());
  pass.run([&] {
    tensor::Context& context = pass.context();
    const auto scope = pass.arena().scope();
    ops::map(context, ops::map_copy(pair, to.z));
    if (has_single) ops::map(context, ops::map_copy(single, to.s));
    if (has_mask && !has_pair_mask) {
      to.pair_mask = pass.arena().take(DType::f32, {n, n});
      const Tensor column(to.mask.data, DType::f32, {n, 1});
      ops::map(context, ops::map_multiply(column, to.mask, to.pair_mask));
    }
    const BlockContext run{context, pass.arena()};
    if (has_msa) {
      const auto rows_scope = pass.arena().scope();
      to.m = pass.arena().take(DType::f32, {input.n_rows, n, info_.msa.c_msa});
      ops::map(context, ops::map_copy(rows, to.m));
      for (const MsaBlock& block : msa_blocks_) add_msa_block(run, block, to);
    }
    for (const Block& block : blocks_) add_block(run, block, to);
  });
}

std::vector<std::string> Pairformer::outputs() const {
  if (info_.c_single == 0) return {"z"};
  return {"s", "z"};
}

Outputs Pairformer::run(const TrunkInput& input) {
  return run_pass([&](Pass& pass) { forward(pass, input); });
}

std::size_t Pairformer::measure(std::int64_t n_tokens, std::int64_t n_rows) const {
  TrunkInput input;
  input.n_tokens = n_tokens;
  input.n_rows = n_rows;
  return measure_pass([&](Pass& pass) { forward(pass, input); });
}

ModelDef pairformer_model() {
  return {"pairformer",
          "Pairformer",
          Reads::arrays,
          {"trunk"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<Pairformer>(folder, config, context, options);
          },
          tensor::Precision::bf16};
}

}  // namespace biogpu::models
