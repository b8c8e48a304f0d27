#include "lib/models/enformer/enformer.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/reduction/attention_pool.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using ops::Activation;
using tensor::DType;
using tensor::Ragged;
using tensor::Tensor;

ops::Activated gelu_of(const Affine& norm, const Tensor& out) {
  return {norm.scale, norm.shift, Activation::gelu_sigmoid, out};
}

// Blocks of the tower: level 0 is the stem.
std::string part_name(std::size_t level) {
  return level == 0 ? "stem" : fmt::format("tower.{}", level - 1);
}

WindowShape make_shape(const enformer::Config& config) {
  WindowShape shape;
  shape.architecture = "Enformer";
  shape.window = config.sequence_length;
  shape.channels = config.channels;
  shape.pools_single_rows = true;
  shape.width = config.width;
  shape.n_blocks = config.n_blocks;
  shape.n_heads = config.n_heads;
  shape.result_level = config.channels.size();
  shape.read = {{shape.result_level, config.width}};
  shape.bins = {config.first_bin, config.n_bins};
  shape.embedding_width = config.embedding_width();
  shape.heads = config.heads;
  return shape;
}

}  // namespace

Enformer::Enformer(const std::string& folder, const ModelConfig& config, tensor::Context& context,
                   Options options)
    : Enformer(folder, config, enformer::read_config(config), context, std::move(options)) {}

Enformer::Enformer(const std::string& folder, const ModelConfig& file, enformer::Config config,
                   tensor::Context& context, Options options)
    : WindowModel(context, make_shape(config), std::move(options.weights.heads)),
      config_(std::move(config)) {
  if (context.kind() == tensor::Context::Kind::gpu) enformer::require_gpu_shape(file, config_);
  options.weights.heads = heads_;
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  weights_ = enformer::read_weights(config_, options.weights, table, context);
  info_.n_parameters = table.n_taken();
  info_.choices = {{"gamma", enformer::name_of(weights_.gamma)}};
  if (weights_.gamma_is_guess)
    info_.warning =
        "the gamma features are of the form 'features', as neither --gamma, nor config.json, nor a "
        "table in the folder tells another; the official weights need the table "
        "(scripts/convert/enformer.py --gamma-table)";
}

void Enformer::take_parts(Pass& pass, const Batch& batch) const {
  for (std::size_t i = 0; i < config_.channels.size(); ++i)
    pass.output(part_name(i), {batch.levels[i + 1].n_rows, config_.channels[i]});
  pass.output("crop", {batch.bins.shape[0], config_.width});
}

// Letters to positions, f32 [positions, width].
std::vector<WindowModel::Lease> Enformer::tower(Pass& pass, const Batch& batch) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  std::vector<Lease> rows;
  rows.push_back(arena.lease(DType::f32, {batch.levels.back().n_rows, config_.width}));
  const Tensor& positions = *rows[0];
  Lease input;  // of the block's first convolution, operand
  for (std::size_t i = 0; i < config_.channels.size(); ++i) {
    const bool last = i + 1 == config_.channels.size();
    const enformer::TowerBlock& block = i == 0 ? weights_.stem : weights_.tower[i - 1];
    const Ragged &rows_in = batch.levels[i], &pooled_rows = batch.levels[i + 1];
    const std::int64_t channels = config_.channels[i];
    Lease output;
    ops::Activated next;
    if (!last) {
      output = arena.lease(context.compute_dtype(), {pooled_rows.n_rows, channels});
      next = gelu_of(weights_.tower[i].widen.norm, *output);
    }
    const auto scope = arena.scope();
    const Tensor x = arena.take(DType::f32, {rows_in.n_rows, channels});
    const Tensor h = arena.take(context.compute_dtype(), {rows_in.n_rows, channels});
    const ops::Activated act = gelu_of(block.pointwise.norm, h);
    if (i == 0)
      ops::conv1d_letters(context, {batch.letters, weights_.letters.table, weights_.letters.bias,
                                    &rows_in, x, act});
    else
      ops::conv1d(context,
                  {*input, &block.widen.conv, kTowerTaps, 1, &rows_in, nullptr, {}, x, act});
    ops::conv1d(context, {h, &block.pointwise.conv, 1, 1, &rows_in, nullptr, x, x, {}});
    // What pooling gives is read by the next block only after its normalisation.
    const Tensor part = pass.find(part_name(i));
    ops::attention_pool(context,
                        {x, &block.pool, &rows_in, &pooled_rows, h.slice(0, 0, pooled_rows.n_rows),
                         last ? positions : part, next});
    if (last && !part.empty()) ops::gather_rows(context, {positions, {}, part});
    input = std::move(output);
  }
  return rows;
}

// Through the transformer and the last activation.
WindowModel::Lease Enformer::to_bins(Pass& pass, const Batch& batch,
                                     std::vector<Lease> rows) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const Tensor& x = *rows[0];
  Lease bins = arena.lease(context.compute_dtype(), {batch.bins.shape[0], config_.width});
  const Lease h = arena.lease(context.compute_dtype(), {x.shape[0], config_.width});
  run_blocks(pass, batch, enformer::transformer_shape(config_), weights_.blocks, x, *h,
             gelu_of(weights_.last.norm, *h));
  const Tensor crop = pass.find("crop");
  if (!crop.empty()) ops::gather_rows(context, {x, batch.bins, crop});
  ops::gather_rows(context, {*h, batch.bins, *bins});
  return bins;
}

TrackEnd Enformer::end() const {
  return {*this, info_.embeddings[0], weights_.last.conv, Activation::gelu_sigmoid, weights_.heads};
}

namespace {
constexpr char kGamma[] = "gamma";
}  // namespace

ModelDef enformer_model() {
  return {"enformer",
          "Enformer",
          Reads::dna,
          {"tracks", "embed", "variants", "mutagenesis"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            Enformer::Options wanted;
            wanted.maps = options.maps;
            if (options.choose_heads)
              wanted.weights.heads = options.choose_heads(enformer::read_config(config).heads);
            if (const auto gamma = options.values.choice(kGamma))
              wanted.weights.gamma = enformer::parse_gamma_form(*gamma);
            return std::make_unique<Enformer>(folder, config, context, std::move(wanted));
          },
          tensor::Precision::fp32,  // 16 bits change tracks: docs/models/enformer.md
          {{.name = kGamma,
            .kind = ModelOption::Kind::choice,
            .help = "compute Enformer's gamma features as tf-table, positions or features [as the "
                    "folder says]",
            .value_name = "FORM",
            .choices = {"auto", "tf-table", "positions", "features"},
            .refusal = "{option} is for {owners}; {model} has no gamma features"}}};
}

}  // namespace biogpu::models
