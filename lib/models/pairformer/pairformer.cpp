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
// Part of a whole model's names.
constexpr char kPairformerStack[] = "pairformer_stack.";

}  // namespace

Pairformer::Pairformer(const std::string& folder, const ModelConfig& config,
                       tensor::Context& context, const LoadOptions& options)
    : Model(context) {
  read_config(config);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  table.alias_prefix(kPairformerStack, "");
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
  info_.n_single_heads = config.count_or("n_heads", 16, 1 << 10);
  if (info_.c_single % info_.n_single_heads != 0)
    config.fail(
        fmt::format("c_s is {}, no multiple of n_heads, {}", info_.c_single, info_.n_single_heads));
  const std::int64_t d_single = info_.c_single / info_.n_single_heads;
  if (context_.kind() == tensor::Context::Kind::gpu &&
      (pair.d_head > kMaxPairHead || d_single > kMaxPairHead))
    config.fail(fmt::format("a head has {} numbers; GPUs have up to {}",
                            std::max(pair.d_head, d_single), kMaxPairHead));
}

Pairformer::Block Pairformer::read_block(tensor::WeightTable& table, std::int64_t index) {
  const std::string name = fmt::format("blocks.{}.", index);
  const PairShape& pair = info_.pair;
  Block block;
  block.product_out = read_triangle_product(context_, table, name + "tri_mul_out", pair);
  block.product_in = read_triangle_product(context_, table, name + "tri_mul_in", pair);
  block.attention_start = read_triangle_attention(context_, table, name + "tri_att_start", pair);
  block.attention_end = read_triangle_attention(context_, table, name + "tri_att_end", pair);
  block.pair_transition =
      read_transition(context_, table, name + "pair_transition", pair.c_pair, pair.n_transition);
  if (info_.c_single == 0) return block;
  block.single_attention =
      read_pair_bias_attention(context_, table, name + "attention_pair_bias", info_.c_single,
                               pair.c_pair, info_.n_single_heads);
  block.single_transition =
      read_transition(context_, table, name + "single_transition", info_.c_single, 4);
  return block;
}

std::string Pairformer::describe() const {
  const PairShape& pair = info_.pair;
  return fmt::format(
      "architecture\tPairformer\nblocks\t{}\npair_width\t{}\ntriangle_product_width\t{}\n"
      "triangle_attention_heads\t{} x {}\nsingle_width\t{}\nsingle_heads\t{}\nparameters\t{}\n",
      info_.n_blocks, pair.c_pair, pair.c_product, pair.n_heads, pair.d_head, info_.c_single,
      info_.c_single == 0 ? 0 : info_.n_single_heads, info_.n_parameters);
}

void Pairformer::add_block(const BlockContext& run, const Block& block, const Tensor& s,
                           const Tensor& z, const Tensor& mask, const Tensor& pair_mask) const {
  add_triangle_product(run, block.product_out, Edges::outgoing, z, pair_mask);
  add_triangle_product(run, block.product_in, Edges::incoming, z, pair_mask);
  add_triangle_attention(run, block.attention_start, Node::starting, z, pair_mask);
  add_triangle_attention(run, block.attention_end, Node::ending, z, pair_mask);
  add_transition(run, block.pair_transition, rows_of_pairs(z));
  if (s.empty()) return;
  add_pair_bias_attention(run, block.single_attention, s, z, mask);
  add_transition(run, block.single_transition, s);
}

void Pairformer::forward(Pass& pass, const TrunkInput& input) const {
  const std::int64_t n = input.n_tokens, c_pair = info_.pair.c_pair;
  const bool has_single = info_.c_single > 0;
  const bool has_mask = !input.mask.empty(), has_pair_mask = !input.pair_mask.empty();
  pass.depends_on(has_mask ? 1 : 0);
  pass.depends_on(has_pair_mask ? 1 : 0);
  const Tensor pair = pass.upload(DType::f32, {n, n, c_pair}, input.pair.data());
  const Tensor z = pass.output("z", {n, n, c_pair});
  Tensor single, s, mask, pair_mask;
  if (has_single) {
    single = pass.upload(DType::f32, {n, info_.c_single}, input.single.data());
    s = pass.output("s", {n, info_.c_single});
  }
  if (has_mask) mask = pass.upload(DType::f32, {n}, input.mask.data());
  if (has_pair_mask) pair_mask = pass.upload(DType::f32, {n, n}, input.pair_mask.data());
  pass.run([&] {
    tensor::Context& context = pass.context();
    const auto scope = pass.arena().scope();
    ops::map(context, ops::map_copy(pair, z));
    if (has_single) ops::map(context, ops::map_copy(single, s));
    if (has_mask && !has_pair_mask) {
      pair_mask = pass.arena().take(DType::f32, {n, n});
      const Tensor column(mask.data, DType::f32, {n, 1});
      ops::map(context, ops::map_multiply(column, mask, pair_mask));
    }
    const BlockContext run{context, pass.arena()};
    for (const Block& block : blocks_) add_block(run, block, s, z, mask, pair_mask);
  });
}

Outputs Pairformer::run(const TrunkInput& input) {
  return run_pass([&](Pass& pass) { forward(pass, input); });
}

std::size_t Pairformer::measure(std::int64_t n_tokens) const {
  TrunkInput input;
  input.n_tokens = n_tokens;
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
