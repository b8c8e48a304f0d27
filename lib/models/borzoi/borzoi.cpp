#include "lib/models/borzoi/borzoi.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/models/borzoi/batch.hpp"
#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/convolution/depthwise_conv1d.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/reduction/max_pool.hpp"
#include "lib/tensor/shortened_starts.hpp"
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

TowerReach make_reach(const borzoi::Config& config) {
  std::vector<std::int64_t> taps(config.channels.size(), borzoi::kTowerTaps);
  taps[0] = borzoi::kLetterTaps;
  return {std::move(taps), config.sequence_length};
}

}  // namespace

Borzoi::Borzoi(const std::string& folder, const ModelConfig& config, tensor::Context& context,
               Options options)
    : DnaModel(context), config_(borzoi::read_config(config)), reach_(make_reach(config_)) {
  if (context.kind() == tensor::Context::Kind::gpu) borzoi::require_gpu_shape(config, config_);
  heads_ = std::move(options.heads);
  if (heads_.empty())
    for (const TrackHead& head : config_.heads) heads_.push_back({head.name, {}});
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  weights_ = borzoi::read_weights(config_, heads_, table, context);
  info_ = {config_.name(),
           config_.sequence_length,
           table.n_taken(),
           config_.heads,
           {{"", config_.final_width, config_.grid()}}};
}

std::string Borzoi::describe() const {
  std::string text;
  const auto line = [&](const std::string& key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  line("architecture", config_.name());
  line("blocks", config_.n_blocks);
  line("width", config_.width);
  line("heads", config_.n_heads);
  line("parameters", info_.n_parameters);
  line("window", fmt::format("{} bases", config_.sequence_length));
  line("bins", fmt::format("{} of {} bases, from base {} of the window on", config_.bins.n,
                           config_.bin_size(), config_.first_base()));
  for (const TrackHead& head : config_.heads) line("tracks_" + head.name, head.n_tracks);
  return text;
}

Outputs Borzoi::run(std::span<const std::uint8_t> letters, const Request& request) {
  return run_pass([&](Pass& pass) { forward(pass, letters, request); });
}

std::size_t Borzoi::measure(std::int64_t n_windows, const Request& request) const {
  const std::vector<std::uint8_t> letters(
      static_cast<std::size_t>(n_windows * config_.sequence_length));
  return measure_pass([&](Pass& pass) { forward(pass, letters, request); });
}

// Pieces of n_letters, of windows or of as many parts of them.
Borzoi::Batch Borzoi::make_batch(Pass& pass, std::span<const std::uint8_t> letters,
                                 std::int64_t n_letters, std::int64_t n_windows,
                                 const Request& request) const {
  Batch batch;
  batch.letters =
      pass.upload(DType::u8, {static_cast<std::int64_t>(letters.size())}, letters.data());
  std::vector<std::int32_t> starts = window_starts(n_windows, n_letters);
  for (std::int64_t level = 0; level <= config_.n_levels(); ++level) {
    batch.levels.push_back(pass.segments(starts));
    starts = tensor::whole_window_starts(starts, kPool);
  }
  const std::size_t first = skip_level(0);
  // The transformer's level comes last: a device keeps the plan of attention of one.
  for (std::size_t level = first; level < batch.levels.size(); ++level)
    batch.whole.push_back(
        n_letters == config_.sequence_length
            ? batch.levels[level]
            : pass.segments(window_starts(n_windows, config_.n_rows() >> (level - first))));
  batch.bins = pass.upload(bin_rows(n_windows, config_.n_rows(), config_.bins));
  if (request.parts) batch.all_positions = pass.upload(counting(batch.positions().n_rows));
  batch.end = upload_track_inputs(pass, end(), request, n_windows);
  return batch;
}

void Borzoi::forward(Pass& pass, std::span<const std::uint8_t> letters,
                     const Request& request) const {
  const std::int64_t n_windows =
      static_cast<std::int64_t>(letters.size()) / config_.sequence_length;
  const Batch batch = make_batch(pass, letters, config_.sequence_length, n_windows, request);
  take_outputs(pass, batch, request);
  pass.run([&] {
    const auto scope = pass.arena().scope();
    Skips skips;
    Lease positions = tower(pass, batch, skips);
    keep(pass, skips, *positions);
    finish(pass, batch, request, skips, std::move(positions));
  });
}

// Copies what changed windows are made of to the outputs that are kept.
void Borzoi::keep(Pass& pass, const Skips& skips, const Tensor& positions) const {
  const auto copy = [&](const Tensor& x, const char* name) {
    const Tensor kept = pass.find(name);
    if (!kept.empty()) ops::gather_rows(pass.context(), {x, {}, kept});
  };
  copy(positions, borzoi::kKeptPositions);
  for (std::size_t i = 0; i < skips.activated.size(); ++i)
    copy(*skips.activated[i], borzoi::kKeptSkips.at(i));
}

// From positions, f32, to tracks.
void Borzoi::finish(Pass& pass, const Batch& batch, const Request& request, Skips& skips,
                    Lease positions) const {
  Lease x = transformer(pass, batch, *positions);
  positions = {};
  const Lease bins = unet(pass, batch, skips, std::move(x));
  run_track_end(pass, end(), request, *bins, batch.end);
}

TrackEnd Borzoi::end() const {
  return {*this, info_.embeddings[0], weights_.last.conv, Activation::gelu_tanh, weights_.heads};
}

void Borzoi::take_outputs(Pass& pass, const Batch& batch, const Request& request) const {
  take_track_outputs(pass, end(), request, batch.bins.shape[0] / config_.bins.n);
  if (request.keep) {
    pass.output(borzoi::kKeptPositions, {batch.positions().n_rows, config_.width});
    for (std::size_t i = 0; i < weights_.ups.size(); ++i)
      pass.output(borzoi::kKeptSkips.at(i),
                  {batch.whole[i].n_rows, config_.channels[skip_level(i)]});
  }
  if (!request.parts) return;
  pass.output("stem", {batch.levels[1].n_rows, config_.channels[0]});
  for (std::size_t i = 1; i < config_.channels.size(); ++i)
    pass.output(fmt::format("tower.{}", i - 1), {batch.levels[i].n_rows, config_.channels[i]});
  for (std::int64_t i = 0; i < config_.n_blocks; ++i)
    pass.output(fmt::format("block.{}", i), {batch.positions().n_rows, config_.width});
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

// Letters to positions, f32 [positions, width].
Lease Borzoi::tower(Pass& pass, const Batch& batch, Skips& skips) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  Lease input = first_level(pass, batch);  // of the next convolution, operand
  for (std::size_t i = 0; i < weights_.tower.size(); ++i) {
    const bool last = i + 1 == weights_.tower.size();
    const Ragged &rows = batch.levels[i + 1], &pooled = batch.levels[i + 2];
    const std::int64_t channels = config_.channels[i + 1];
    const Tensor part = pass.find(fmt::format("tower.{}", i));
    const Lease memory = part.empty() ? arena.lease(DType::f32, {rows.n_rows, channels}) : Lease();
    const Tensor& y = part.empty() ? *memory : part;
    ops::Activated across;
    if (i + 1 >= skip_level(0)) {
      const borzoi::UpBlock& up = weights_.ups[skips.activated.size()];
      skips.activated.push_back(arena.lease(context.compute_dtype(), {rows.n_rows, channels}));
      across = tanh_gelu_of(up.across.norm, *skips.activated.back());
    }
    ops::conv1d(
        context,
        {*input, &weights_.tower[i].conv, borzoi::kTowerTaps, 1, &rows, nullptr, {}, y, across});
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
  return input;
}

// Gives what the U-Net reads, operand [positions, width]; x becomes the last block's result.
Lease Borzoi::transformer(Pass& pass, const Batch& batch, const Tensor& x) const {
  tensor::Context& context = pass.context();
  Lease h = pass.arena().lease(context.compute_dtype(), {x.shape[0], config_.width});
  const DnaTransformerShape shape = borzoi::transformer_shape(config_);
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const bool last = i + 1 == weights_.blocks.size();
    const ops::Activated next =
        last ? tanh_gelu_of(weights_.ups.back().up.norm, *h) : ops::Activated{};
    run_dna_transformer_block(pass, shape, weights_.blocks[i], batch.positions(), x, *h, next);
    const Tensor part = pass.find(fmt::format("block.{}", i));
    if (!part.empty()) ops::gather_rows(context, {x, batch.all_positions, part});
  }
  return h;
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

// Back to bins, as the last product reads them: operand [bins, width].
Lease Borzoi::unet(Pass& pass, const Batch& batch, Skips& skips, Lease x) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  for (std::size_t index = weights_.ups.size(); index-- > 0;) {
    const borzoi::UpBlock& block = weights_.ups[index];
    Lease by_channel = up(pass, batch, index, *skips.activated[index], *x);
    skips.activated[index] = {};
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
