#include "lib/models/borzoi/borzoi.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/convolution/depthwise_conv1d.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/reduction/max_pool.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using ops::Activation;
using tensor::DType;
using tensor::Ragged;
using tensor::Tensor;
using Lease = tensor::Arena::Lease;

ops::Activated tanh_gelu_of(const Affine& norm, const Tensor& out) {
  return {norm.scale, norm.shift, Activation::gelu_tanh, out};
}

WindowShape make_shape(const borzoi::Config& config) {
  WindowShape shape;
  shape.architecture = config.name();
  shape.window = config.sequence_length;
  shape.channels = config.channels;
  shape.width = config.width;
  shape.n_blocks = config.n_blocks;
  shape.n_heads = config.n_heads;
  shape.result_level = config.skip_level(0);
  shape.read = {{config.channels.size(), config.width}};
  for (std::size_t level = config.skip_level(0); level < config.channels.size(); ++level)
    shape.read.push_back({level, config.channels[level]});
  shape.bins = config.bins;
  shape.embedding_width = config.final_width;
  shape.heads = config.heads;
  return shape;
}

}  // namespace

Borzoi::Borzoi(const std::string& folder, const ModelConfig& config, tensor::Context& context,
               Options options)
    : Borzoi(folder, config, borzoi::read_config(config), context, std::move(options)) {}

Borzoi::Borzoi(const std::string& folder, const ModelConfig& file, borzoi::Config config,
               tensor::Context& context, Options options)
    : WindowModel(context, make_shape(config), std::move(options.heads)),
      config_(std::move(config)) {
  if (context.kind() == tensor::Context::Kind::gpu) borzoi::require_gpu_shape(file, config_);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  weights_ = borzoi::read_weights(config_, heads_, table, context);
  info_.n_parameters = table.n_taken();
}

// From what is read of the tower through the transformer and the U-Net.
Lease Borzoi::to_bins(Pass& pass, const Batch& batch, std::vector<Lease> rows) const {
  Lease h = pass.arena().lease(pass.context().compute_dtype(), {rows[0]->shape[0], config_.width});
  run_blocks(pass, batch, borzoi::transformer_shape(config_), weights_.blocks, *rows[0], *h,
             tanh_gelu_of(weights_.ups.back().up.norm, *h));
  rows[0] = {};
  return unet(pass, batch, std::move(rows), std::move(h));
}

TrackEnd Borzoi::end() const {
  return {*this, info_.embeddings[0], weights_.last.conv, Activation::gelu_tanh, weights_.heads};
}

void Borzoi::take_parts(Pass& pass, const Batch& batch) const {
  pass.output("stem", {batch.levels[1].n_rows, config_.channels[0]});
  for (std::size_t i = 1; i < config_.channels.size(); ++i)
    pass.output(fmt::format("tower.{}", i - 1), {batch.levels[i].n_rows, config_.channels[i]});
  for (std::size_t i = 0; i < weights_.ups.size(); ++i)
    pass.output(fmt::format("up.{}", i), {batch.whole[i].n_rows, config_.width});
}

// Letters to what the second convolution reads.
Lease Borzoi::first_level(Pass& pass, const Batch& batch) const {
  tensor::Context& context = pass.context();
  const Ragged &rows = batch.levels[0], &pooled = batch.levels[1];
  Lease next = pass.arena().lease(context.compute_dtype(), {pooled.n_rows, config_.channels[0]});
  const Lease x = pass.arena().lease(DType::f32, {rows.n_rows, config_.channels[0]});
  ops::conv1d_letters(
      context, {batch.letters, weights_.letters.table, weights_.letters.bias, &rows, *x, {}});
  ops::max_pool(context, {*x, kPool, &rows, &pooled, pass.find("stem"),
                          tanh_gelu_of(weights_.tower[0].norm, *next)});
  return next;
}

// Letters to positions, f32 [positions, width], and of the last convolutions what the U-Net reads:
// operand, [rows, channels], the most rows first.
std::vector<Lease> Borzoi::tower(Pass& pass, const Batch& batch) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  std::vector<Lease> read(1);
  Lease input = first_level(pass, batch);  // of the next convolution, operand
  for (std::size_t i = 0; i < weights_.tower.size(); ++i) {
    const bool last = i + 1 == weights_.tower.size();
    const Ragged &rows = batch.levels[i + 1], &pooled = batch.levels[i + 2];
    const std::int64_t channels = config_.channels[i + 1];
    const Tensor part = pass.find(fmt::format("tower.{}", i));
    const Lease memory = part.empty() ? arena.lease(DType::f32, {rows.n_rows, channels}) : Lease();
    const Tensor& y = part.empty() ? *memory : part;
    ops::Activated across;
    if (i + 1 >= config_.skip_level(0)) {
      const borzoi::UpBlock& up = weights_.ups[read.size() - 1];
      read.push_back(arena.lease(context.compute_dtype(), {rows.n_rows, channels}));
      across = tanh_gelu_of(up.across.norm, *read.back());
    }
    ops::conv1d(context,
                {*input, &weights_.tower[i].conv, kTowerTaps, 1, &rows, nullptr, {}, y, across});
    input = {};
    if (last) {
      input = arena.lease(DType::f32, {pooled.n_rows, channels});
      ops::max_pool(context, {y, kPool, &rows, &pooled, *input, {}});
    } else {
      input = arena.lease(context.compute_dtype(), {pooled.n_rows, channels});
      ops::max_pool(
          context,
          {y, kPool, &rows, &pooled, {}, tanh_gelu_of(weights_.tower[i + 1].norm, *input)});
    }
  }
  read[0] = std::move(input);
  return read;
}

// One step back to twice the rows, up to the separable convolution's second half: operand
// [rows, width]. x: operand, what the step reads.
Lease Borzoi::up(Pass& pass, const Batch& batch, std::size_t index, const Tensor& skip,
                 const Tensor& x) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const borzoi::UpBlock& block = weights_.ups[index];
  const Ragged &rows = batch.whole[index], &few = batch.whole[index + 1];
  Lease by_channel = arena.lease(context.compute_dtype(), {rows.n_rows, config_.width});
  const Lease sum = arena.lease(context.compute_dtype(), {rows.n_rows, config_.width});
  {
    const auto scope = arena.scope();
    const Tensor across = arena.take(DType::f32, {rows.n_rows, config_.width});
    const Tensor below = arena.take(DType::f32, {few.n_rows, config_.width});
    ops::gemm(context, {skip, &block.across.conv, Activation::none, {}, across});
    ops::gemm(context, {x, &block.up.conv, Activation::none, {}, below});
    ops::repeat_rows(context, {below, kPool, &few, &rows, across, *sum, {}});
  }
  ops::depthwise_conv1d(context, {*sum, block.depthwise, &rows, *by_channel, {}});
  return by_channel;
}

// Back to bins, as the last product reads them: operand [bins, width]. rows: of the tower.
Lease Borzoi::unet(Pass& pass, const Batch& batch, std::vector<Lease> rows, Lease x) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  for (std::size_t index = weights_.ups.size(); index-- > 0;) {
    const borzoi::UpBlock& block = weights_.ups[index];
    Lease by_channel = up(pass, batch, index, *rows[index + 1], *x);
    rows[index + 1] = {};
    x = {};
    const Tensor part = pass.find(fmt::format("up.{}", index));
    if (!part.empty())
      ops::gemm(context, {*by_channel, &block.pointwise, Activation::none, {}, part});
    // The other rows of the last step are read by nothing.
    if (index == 0) {
      Lease bins = arena.lease(context.compute_dtype(), {batch.bins.shape[0], config_.width});
      ops::gather_rows(context, {*by_channel, batch.bins, *bins});
      by_channel = std::move(bins);
    }
    const Affine& norm = index == 0 ? weights_.last.norm : weights_.ups[index - 1].up.norm;
    x = arena.lease(context.compute_dtype(), {by_channel->shape[0], config_.width});
    ops::conv1d(
        context,
        {*by_channel, &block.pointwise, 1, 1, nullptr, nullptr, {}, {}, tanh_gelu_of(norm, *x)});
  }
  return x;
}

ModelDef borzoi_model() {
  return {"borzoi",
          "Borzoi",
          Reads::dna,
          {"tracks", "embed", "variants", "mutagenesis"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            Borzoi::Options wanted;
            wanted.maps = options.maps;
            if (options.choose_heads)
              wanted.heads = options.choose_heads(borzoi::read_config(config).heads);
            return std::make_unique<Borzoi>(folder, config, context, std::move(wanted));
          },
          tensor::Precision::fp32};  // 16 bits change tracks: docs/models/borzoi.md
}

}  // namespace biogpu::models
