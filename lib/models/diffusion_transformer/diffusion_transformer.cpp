#include "lib/models/diffusion_transformer/diffusion_transformer.hpp"

#include <fmt/format.h>

#include <memory>

#include "lib/ops/elementwise/map.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kMaxTokenWidth = 1 << 14;
constexpr std::int64_t kMaxTokenHead = 192;  // of attention on a GPU
// Part of a whole model's names.
constexpr char kTransformer[] = "diffusion_module.diffusion_transformer.";

}  // namespace

DiffusionTransformer::DiffusionTransformer(const std::string& folder, const ModelConfig& config,
                                           tensor::Context& context, const LoadOptions& options)
    : TrunkModel(context) {
  read_config(config);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  table.alias_prefix(kTransformer, "");
  for (std::int64_t i = 0; i < info_.n_blocks; ++i) {
    const std::string name = fmt::format("blocks.{}.", i);
    Block& block = blocks_.emplace_back();
    block.attention =
        read_conditioned_attention(context_, table, name + "attention_pair_bias", info_.shape);
    block.transition = read_conditioned_transition(
        context_, table, name + "conditioned_transition_block", info_.shape);
  }
  table.finish();
  info_.n_parameters = table.n_taken();
}

void DiffusionTransformer::read_config(const ModelConfig& config) {
  info_.n_blocks = config.count_or("n_blocks", 24, 1 << 10);
  DiffusionShape& shape = info_.shape;
  shape.c = config.count_or("c_token", 768, kMaxTokenWidth);
  shape.c_cond = config.count_or("c_s", 384, kMaxTokenWidth);
  shape.c_pair = config.count_or("c_z", 128, kMaxTokenWidth);
  shape.n_heads = config.count_or("n_heads", 16, 1 << 10);
  shape.n_transition = config.count_or("n_transition", 2, 64);
  if (shape.c % shape.n_heads != 0)
    config.fail(fmt::format("c_token is {}, no multiple of n_heads, {}", shape.c, shape.n_heads));
  if (context_.kind() == tensor::Context::Kind::gpu && shape.c / shape.n_heads > kMaxTokenHead)
    config.fail(fmt::format("a head has {} numbers; GPUs have up to {}", shape.c / shape.n_heads,
                            kMaxTokenHead));
}

std::string DiffusionTransformer::describe() const {
  const DiffusionShape& shape = info_.shape;
  return fmt::format(
      "architecture\tdiffusion transformer\nblocks\t{}\ntoken_width\t{}\ncondition_width\t{}\n"
      "pair_width\t{}\nheads\t{} x {}\nparameters\t{}\n",
      info_.n_blocks, shape.c, shape.c_cond, shape.c_pair, shape.n_heads, shape.c / shape.n_heads,
      info_.n_parameters);
}

std::string DiffusionTransformer::title() const {
  return fmt::format("diffusion transformer of {} blocks, {} parameters", info_.n_blocks,
                     info_.n_parameters);
}

TrunkShape DiffusionTransformer::shape() const {
  TrunkShape shape;
  shape.c_single = info_.shape.c_cond;
  shape.c_pair = info_.shape.c_pair;
  shape.c_noisy = info_.shape.c;
  return shape;
}

void DiffusionTransformer::forward(Pass& pass, const TrunkInput& input) const {
  const std::int64_t n = input.n_tokens;
  const DiffusionShape& shape = info_.shape;
  const bool has_mask = !input.mask.empty();
  pass.depends_on(has_mask ? 1 : 0);
  const Tensor noisy = pass.upload(DType::f32, {n, shape.c}, input.noisy.data());
  const Tensor s = pass.upload(DType::f32, {n, shape.c_cond}, input.single.data());
  const Tensor z = pass.upload(DType::f32, {n, n, shape.c_pair}, input.pair.data());
  Tensor mask;
  if (has_mask) mask = pass.upload(DType::f32, {n}, input.mask.data());
  const Tensor a = pass.output("a", {n, shape.c});
  pass.run([&] {
    const BlockContext run{pass.context(), pass.arena()};
    ops::map(run.context, ops::map_copy(noisy, a));
    for (const Block& block : blocks_) {
      add_conditioned_attention(run, block.attention, a, s, z, mask);
      add_conditioned_transition(run, block.transition, a, s);
    }
  });
}

Outputs DiffusionTransformer::run(const TrunkInput& input) {
  return run_pass([&](Pass& pass) { forward(pass, input); });
}

std::size_t DiffusionTransformer::measure(std::int64_t n_tokens, std::int64_t) const {
  TrunkInput input;
  input.n_tokens = n_tokens;
  return measure_pass([&](Pass& pass) { forward(pass, input); });
}

ModelDef diffusion_transformer_model() {
  return {"diffusion_transformer",
          "Diffusion transformer",
          Reads::arrays,
          {"trunk"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<DiffusionTransformer>(folder, config, context, options);
          },
          tensor::Precision::bf16};
}

}  // namespace biogpu::models
