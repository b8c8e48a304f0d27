#include "lib/models/enformer/enformer.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lib/models/enformer/batch.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/reduction/attention_pool.hpp"
#include "lib/tensor/shortened_starts.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using enformer::kKeptPositions;
using ops::Activation;
using tensor::DType;
using tensor::Ragged;
using tensor::Tensor;

ops::Activated gelu_of(const Affine& norm, const Tensor& out) {
  return {norm.scale, norm.shift, Activation::gelu_sigmoid, out};
}

TowerReach make_reach(const enformer::Config& config) {
  std::vector<std::int64_t> taps(config.channels.size(), enformer::kTowerTaps);
  taps[0] = enformer::kLetterTaps;
  return {std::move(taps), config.sequence_length};
}

}  // namespace

Enformer::Enformer(const std::string& folder, const ModelConfig& config, tensor::Context& context,
                   Options options)
    : DnaModel(context), config_(enformer::read_config(config)), reach_(make_reach(config_)) {
  if (context.kind() == tensor::Context::Kind::gpu) enformer::require_gpu_shape(config, config_);
  heads_ = std::move(options.weights.heads);
  if (heads_.empty())
    for (const TrackHead& head : config_.heads) heads_.push_back({head.name, {}});
  options.weights.heads = heads_;
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  weights_ = enformer::read_weights(config_, options.weights, table, context);
  info_ = {"Enformer",
           config_.sequence_length,
           table.n_taken(),
           config_.heads,
           {{"", config_.embedding_width(), config_.grid()}}};
  info_.choices = {{"gamma", enformer::name_of(weights_.gamma)}};
  if (weights_.gamma_is_guess)
    info_.warning =
        "the gamma features are of the form 'features', as neither --gamma, nor config.json, nor a "
        "table in the folder tells another; the official weights need the table "
        "(scripts/convert/enformer.py --gamma-table)";
}

std::string Enformer::describe() const {
  std::string text;
  const auto line = [&](const std::string& key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  line("architecture", "Enformer");
  line("blocks", config_.n_blocks);
  line("width", config_.width);
  line("heads", config_.n_heads);
  line("parameters", info_.n_parameters);
  line("window", fmt::format("{} bases", config_.sequence_length));
  line("bins", fmt::format("{} of {} bases, from base {} of the window on", config_.n_bins,
                           config_.bin_size(), config_.first_base()));
  for (const TrackHead& head : config_.heads) line("tracks_" + head.name, head.n_tracks);
  line("gamma", enformer::name_of(weights_.gamma));
  return text;
}

Outputs Enformer::run(std::span<const std::uint8_t> letters, const Request& request) {
  return run_pass([&](Pass& pass) { forward(pass, letters, request); });
}

std::size_t Enformer::measure(std::int64_t n_windows, const Request& request) const {
  const std::vector<std::uint8_t> letters(
      static_cast<std::size_t>(n_windows * config_.sequence_length));
  return measure_pass([&](Pass& pass) { forward(pass, letters, request); });
}

// Pieces of n_letters, of windows or of as many parts of them.
Enformer::Batch Enformer::make_batch(Pass& pass, std::span<const std::uint8_t> letters,
                                     std::int64_t n_letters, std::int64_t n_windows,
                                     const Request& request) const {
  Batch batch;
  batch.letters =
      pass.upload(DType::u8, {static_cast<std::int64_t>(letters.size())}, letters.data());
  std::vector<std::int32_t> starts = window_starts(n_windows, n_letters);
  for (std::size_t level = 0; level <= config_.channels.size(); ++level) {
    batch.levels.push_back(pass.segments(starts));
    starts = tensor::shortened_starts(starts, kPool);
  }
  // The transformer's level comes last: a device keeps the plan of attention of one.
  const bool whole = n_letters == config_.sequence_length;
  batch.positions =
      whole ? batch.levels.back() : pass.segments(window_starts(n_windows, config_.n_positions));
  batch.bins =
      pass.upload(bin_rows(n_windows, config_.n_positions, {config_.first_bin, config_.n_bins}));
  if (request.parts || request.keep)
    batch.all_positions = pass.upload(counting(batch.positions.n_rows));
  batch.end = upload_track_inputs(pass, end(), request, n_windows);
  return batch;
}

void Enformer::forward(Pass& pass, std::span<const std::uint8_t> letters,
                       const Request& request) const {
  const auto n_windows = static_cast<std::int64_t>(letters.size()) / config_.sequence_length;
  const Batch batch = make_batch(pass, letters, config_.sequence_length, n_windows, request);
  take_outputs(pass, batch, request);
  pass.run([&] {
    const auto scope = pass.arena().scope();
    const Tensor positions = pass.arena().take(DType::f32, {batch.positions.n_rows, config_.width});
    tower(pass, batch, positions);
    finish(pass, batch, request, transformer(pass, batch, positions));
  });
}

void Enformer::take_outputs(Pass& pass, const Batch& batch, const Request& request) const {
  const std::int64_t n_positions = batch.positions.n_rows, n_bins = batch.n_bins();
  take_track_outputs(pass, end(), request, n_bins / config_.n_bins);
  if (request.keep) pass.output(kKeptPositions, {n_positions, config_.width});
  if (!request.parts) return;
  pass.output("stem", {batch.levels[1].n_rows, config_.channels[0]});
  for (std::size_t i = 1; i < config_.channels.size(); ++i)
    pass.output(fmt::format("tower.{}", i - 1), {batch.levels[i + 1].n_rows, config_.channels[i]});
  for (std::int64_t i = 0; i < config_.n_blocks; ++i)
    pass.output(fmt::format("block.{}", i), {n_positions, config_.width});
  pass.output("crop", {n_bins, config_.width});
}

// Letters to positions, f32 [positions, width].
void Enformer::tower(Pass& pass, const Batch& batch, const Tensor& positions) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  Tensor input;  // of the block's first convolution, operand
  for (std::size_t i = 0; i < config_.channels.size(); ++i) {
    const bool last = i + 1 == config_.channels.size();
    const enformer::TowerBlock& block = i == 0 ? weights_.stem : weights_.tower[i - 1];
    const Ragged &rows = batch.levels[i], &pooled_rows = batch.levels[i + 1];
    const std::int64_t channels = config_.channels[i];
    ops::Activated next;
    if (!last)
      next = gelu_of(weights_.tower[i].widen.norm,
                     arena.take(context.compute_dtype(), {pooled_rows.n_rows, channels}));
    const auto scope = arena.scope();
    const Tensor x = arena.take(DType::f32, {rows.n_rows, channels});
    const Tensor h = arena.take(context.compute_dtype(), {rows.n_rows, channels});
    const ops::Activated act = gelu_of(block.pointwise.norm, h);
    if (i == 0)
      ops::conv1d_letters(
          context, {batch.letters, weights_.letters.table, weights_.letters.bias, &rows, x, act});
    else
      ops::conv1d(context,
                  {input, &block.widen.conv, enformer::kTowerTaps, 1, &rows, nullptr, {}, x, act});
    ops::conv1d(context, {h, &block.pointwise.conv, 1, 1, &rows, nullptr, x, x, {}});
    // What pooling gives is read by the next block only after its normalisation.
    const Tensor part = pass.find(i == 0 ? "stem" : fmt::format("tower.{}", i - 1));
    ops::attention_pool(context,
                        {x, &block.pool, &rows, &pooled_rows, h.slice(0, 0, pooled_rows.n_rows),
                         last ? positions : part, next});
    if (last && !part.empty()) ops::gather_rows(context, {positions, batch.all_positions, part});
    input = next.out;
  }
}

// Gives what the last convolution reads, operand [positions, width]; x becomes the last block's
// result.
Tensor Enformer::transformer(Pass& pass, const Batch& batch, const Tensor& x) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const Tensor kept = pass.find(kKeptPositions);
  if (!kept.empty()) ops::gather_rows(context, {x, batch.all_positions, kept});
  const Tensor h = arena.take(context.compute_dtype(), {x.shape[0], config_.width});
  const DnaTransformerShape shape = enformer::transformer_shape(config_);
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const bool last = i + 1 == weights_.blocks.size();
    const ops::Activated next = last ? gelu_of(weights_.last.norm, h) : ops::Activated{};
    run_dna_transformer_block(pass, shape, weights_.blocks[i], batch.positions, x, h, next);
    const Tensor part = pass.find(fmt::format("block.{}", i));
    if (!part.empty()) ops::gather_rows(context, {x, batch.all_positions, part});
  }
  const Tensor crop = pass.find("crop");
  if (!crop.empty()) ops::gather_rows(context, {x, batch.bins, crop});
  return h;
}

// From the activated positions to the embedding of the bins and to tracks.
void Enformer::finish(Pass& pass, const Batch& batch, const Request& request,
                      const Tensor& activated) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const Tensor bins = arena.take(context.compute_dtype(), {batch.n_bins(), config_.width});
  ops::gather_rows(context, {activated, batch.bins, bins});
  run_track_end(pass, end(), request, bins, batch.end);
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
            .help = "Enformer's gamma features: tf-table, positions, features [as the folder says]",
            .value_name = "FORM",
            .choices = {"auto", "tf-table", "positions", "features"},
            .refusal = "{option} is for {owners}; {model} has no gamma features"}}};
}

}  // namespace biogpu::models
