#include "lib/models/alphagenome/alphagenome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lib/models/alphagenome/unet.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/views.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using alphagenome::Batch;
using alphagenome::kContactMaps;
using ops::Activation;
using ops::MapCode;
using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kDefaultBases = 131072;
// An output for add_junctions() alone.
constexpr const char* kSiteProbabilities = "site_probabilities";
constexpr const char* kOrganism = "organism";
constexpr const char* kPairGelu = "pair-gelu";

std::int64_t window_bases(const ModelConfig& file, const alphagenome::Config& config,
                          std::int64_t asked) {
  const std::int64_t max = alphagenome::kMaxPositions * config.coarse_bin();
  const std::int64_t n =
      asked > 0 ? asked : file.count_or("sequence_length", std::min(kDefaultBases, max), max);
  if (n % config.pair_bin() != 0 || n > max)
    file.fail(fmt::format("sequence_length is {}; expected a multiple of {}, up to {}", n,
                          config.pair_bin(), max));
  return n;
}

}  // namespace

AlphaGenome::AlphaGenome(const std::string& folder, const ModelConfig& config,
                         tensor::Context& context, Options options)
    : DnaModel(context), config_(alphagenome::read_config(config)), pair_gelu_(options.pair_gelu) {
  if (context.kind() == tensor::Context::Kind::gpu) alphagenome::require_gpu_shape(config, config_);
  const std::int64_t n_bases = window_bases(config, config_, options.n_bases);
  const std::int64_t n_pairs = n_bases / config_.pair_bin();
  info_.architecture = "AlphaGenome";
  info_.window = n_bases;
  info_.heads = alphagenome::all_heads(config_, n_bases, options.weights.organism);
  info_.embeddings = {
      {"1bp", config_.fine_width(), {1, 0, n_bases}},
      {"128bp", config_.coarse_width(), {config_.coarse_bin(), 0, n_bases / config_.coarse_bin()}},
      {"pair",
       config_.pair_channels,
       {config_.pair_bin(), 0, n_pairs * n_pairs},
       {n_pairs, n_pairs}}};
  heads_ = std::move(options.weights.heads);
  if (heads_.empty())
    for (const TrackHead& head : info_.heads) heads_.push_back({head.name, {}});
  options.weights.heads = heads_;
  if (options.weights.organism < 0 || options.weights.organism >= config_.stored_organisms())
    config.fail(
        fmt::format("organism {} of {}", options.weights.organism, config_.stored_organisms()));
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  weights_ = alphagenome::read_weights(config_, options.weights, table, context);
  info_.n_parameters = table.n_taken();
  const auto row = static_cast<std::size_t>(options.weights.organism);
  if (row < config_.organisms.size())
    info_.choices.emplace_back("organism", config_.organisms[row]);
  info_.choices.emplace_back("pair_gelu",
                             pair_gelu_ == alphagenome::PairGelu::tanh ? "tanh" : "erf");
  if (weights_.junctions)
    site_rows_.emplace(context, std::vector<KeptStore::Array>{
                                    {context.compute_dtype(), n_bases, config_.fine_width()}});
}

std::string AlphaGenome::describe() const {
  std::string text;
  const auto line = [&](const std::string& key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  line("architecture", "AlphaGenome");
  line("blocks", config_.n_tower_blocks);
  line("width", config_.width());
  line("heads", config_.n_heads);
  line("parameters", info_.n_parameters);
  line("organisms",
       fmt::format("{} ({})", config_.n_organisms, fmt::join(config_.organisms, ", ")));
  line("window",
       fmt::format("{} bases; any multiple of {} up to {}", info_.window, config_.pair_bin(),
                   alphagenome::kMaxPositions * config_.coarse_bin()));
  for (const TrackHead& head : info_.heads) line("tracks_" + head.name, head.n_tracks);
  return text;
}

Outputs AlphaGenome::run(std::span<const std::uint8_t> letters, const Request& request) {
  const std::int64_t n_windows = std::ssize(letters) / info_.window;
  Tensor site_rows;
  if (has_junctions(request)) {
    site_rows_->reserve(static_cast<std::size_t>(n_windows));
    site_rows = site_rows_->rows(0).slice(0, 0, n_windows * info_.window);
  }
  Outputs outputs = run_pass([&](Pass& pass) { forward(pass, letters, request, site_rows); });
  if (has_junctions(request)) add_junctions(site_rows, n_windows, outputs);
  return outputs;
}

std::size_t AlphaGenome::measure(std::int64_t n_windows, const Request& request) const {
  const std::vector<std::uint8_t> letters(static_cast<std::size_t>(n_windows * info_.window));
  Tensor site_rows;
  std::size_t kept = 0;
  if (has_junctions(request)) {
    site_rows =
        Tensor(nullptr, context_.compute_dtype(), {n_windows * info_.window, config_.fine_width()});
    kept = site_rows_->window_bytes() * static_cast<std::size_t>(n_windows);
  }
  return kept + measure_pass([&](Pass& pass) { forward(pass, letters, request, site_rows); });
}

bool AlphaGenome::has_junctions(const Request& request) const {
  return request.tracks && weights_.junctions.has_value();
}

// site_rows: embeddings of the bases of all windows, of which those of splice sites are read.
void AlphaGenome::add_junctions(const Tensor& site_rows, std::int64_t n_windows, Outputs& outputs) {
  const io::SharedArray probabilities = outputs.at(kSiteProbabilities).values;
  const auto size = static_cast<std::size_t>(info_.window * alphagenome::kSpliceClasses);
  for (std::int64_t w = 0; w < n_windows; ++w) {
    const float* const first = probabilities.data() + static_cast<std::size_t>(w) * size;
    const alphagenome::SpliceSites sites = alphagenome::select_sites({first, size});
    const Tensor rows = site_rows.slice(0, w * info_.window, (w + 1) * info_.window);
    const Outputs strands = run_pass([&](Pass& pass) {
      pass.depends_on(reinterpret_cast<std::uintptr_t>(rows.data));
      alphagenome::predict_junctions(pass, *weights_.junctions, rows, sites);
    });
    alphagenome::Junctions joined = alphagenome::join_strands(*weights_.junctions, sites, strands);
    joined.tracks.name = fmt::format("tracks.{}.{}", alphagenome::kJunctions, w);
    joined.positions.name = fmt::format("positions.{}.{}", alphagenome::kJunctions, w);
    outputs.add(std::move(joined.tracks));
    outputs.add(std::move(joined.positions));
  }
}

AlphaGenome::Needs AlphaGenome::needs(const Request& request) const {
  const bool all = request.embedding || request.parts;
  Needs needs{all, all, request.embedding};
  if (!request.tracks && request.sums.empty()) return needs;
  for (const HeadChoice& choice : heads_) {
    const TrackHead& loaded = head(choice);
    if (!loaded.row_shape.empty())
      needs.contacts = true;
    else if (loaded.bins.bin_size == 1)
      needs.fine = true;
    else
      needs.coarse = true;
  }
  return needs;
}

TrackEnd AlphaGenome::end(bool is_fine) const {
  return {*this, info_.embeddings[is_fine ? 0 : 1],
          is_fine ? weights_.fine_project : weights_.coarse_project, Activation::gelu_sigmoid,
          weights_.heads};
}

void AlphaGenome::forward(Pass& pass, std::span<const std::uint8_t> letters, const Request& request,
                          const Tensor& site_rows) const {
  const std::int64_t n_windows = std::ssize(letters) / info_.window;
  const Batch batch =
      alphagenome::make_batch(pass, config_, letters.data(), n_windows, info_.window);
  const Needs need = needs(request);
  const TrackEnd fine = end(true), coarse = end(false);
  const TrackInputs fine_inputs = upload_track_inputs(pass, fine, request, n_windows);
  const TrackInputs coarse_inputs = upload_track_inputs(pass, coarse, request, n_windows);
  take_track_outputs(pass, fine, request, n_windows);
  take_track_outputs(pass, coarse, request, n_windows);
  const std::int64_t n_rows = n_windows * batch.n_positions, n_pairs = batch.n_pairs;
  const std::int64_t n_bases = n_windows * batch.n_bases, width = config_.width();
  const Embedding& pair_embedding = info_.embeddings[2];
  if (request.embedding)
    pass.output(pair_embedding.output(), {n_windows * n_pairs * n_pairs, pair_embedding.width});
  Tensor site_probabilities;
  if (!site_rows.empty()) {
    pass.depends_on(reinterpret_cast<std::uintptr_t>(site_rows.data));
    site_probabilities =
        pass.output(kSiteProbabilities, {n_windows * batch.n_bases, alphagenome::kSpliceClasses});
  }
  if (need.contacts && request.tracks)
    for (std::size_t i = 0; i < heads_.size(); ++i)
      if (heads_[i].name == kContactMaps)
        pass.output(std::string("tracks.") + kContactMaps,
                    {n_windows * n_pairs * n_pairs, weights_.heads[i].linear.n_out});
  if (request.parts) {
    pass.output("trunk", {n_rows, width});
    pass.output("tower", {n_rows, width});
    pass.output("pair", {n_windows * n_pairs * n_pairs, config_.pair_channels});
    pass.output("decoded", {n_bases, config_.n_channels});
  }
  pass.run([&] {
    tensor::Context& context = pass.context();
    tensor::Arena& arena = pass.arena();
    const auto scope = arena.scope();
    const auto keep = [&](const char* name, const Tensor& x) {
      const Tensor part = pass.find(name);
      if (!part.empty()) ops::map(context, ops::map_copy(x, part));
    };
    const Tensor x = arena.take(DType::f32, {n_rows, width});
    const Tensor pair =
        arena.take(DType::f32, {n_windows, n_pairs, n_pairs, config_.pair_channels});
    alphagenome::Skips skips;
    alphagenome::encode(pass, config_, weights_, batch, x, need.fine ? &skips : nullptr);
    keep("trunk", x);
    if (!weights_.organism.empty()) ops::map(context, ops::map_add(x, weights_.organism, x));
    alphagenome::run_tower(pass, config_, weights_, batch, pair_gelu_, x, pair);
    keep("tower", x);
    const Tensor pairs(pair.data, pair.dtype,
                       {n_windows * n_pairs * n_pairs, config_.pair_channels});
    keep("pair", pairs);
    if (need.contacts) contact_maps(pass, batch, pair);
    if (!need.fine && !need.coarse) return;
    const Tensor of_coarse = coarse_embedding(pass, x);
    run_heads(pass, coarse, request, of_coarse, coarse_inputs);
    if (!need.fine) return;
    const Tensor decoded = arena.take(context.compute_dtype(), {n_bases, config_.n_channels});
    alphagenome::decode(pass, config_, weights_, batch, x, skips, decoded);
    keep("decoded", decoded);
    const Tensor of_fine = fine_embedding(pass, batch, decoded, of_coarse, site_rows);
    run_heads(pass, fine, request, of_fine, fine_inputs);
    if (!site_rows.empty()) weights_.junctions->sites.compute(pass, of_fine, site_probabilities);
  });
}

// Operand [positions, coarse width]; also fp32 where it is an output.
Tensor AlphaGenome::coarse_embedding(Pass& pass, const Tensor& x) const {
  tensor::Context& context = pass.context();
  const Tensor embedding =
      pass.arena().take(context.compute_dtype(), {x.shape[0], config_.coarse_width()});
  const auto scope = pass.arena().scope();
  const Tensor read = pass.arena().take(context.compute_dtype(), {x.shape[0], x.shape[1]});
  ops::map(context, ops::map_copy(x, read));
  ops::gemm(context, {read, &weights_.coarse_project, Activation::gelu_sigmoid, {}, embedding});
  const Tensor wanted = pass.find(info_.embeddings[1].output());
  if (!wanted.empty()) ops::map(context, ops::map_copy(embedding, wanted));
  return embedding;
}

// Operand [bases, fine width], in `kept` where that is given.
Tensor AlphaGenome::fine_embedding(Pass& pass, const Batch& batch, const Tensor& decoded,
                                   const Tensor& coarse, const Tensor& kept) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const std::int64_t width = config_.fine_width();
  const Tensor embedding =
      kept.empty() ? arena.take(context.compute_dtype(), {decoded.shape[0], width}) : kept;
  const auto scope = arena.scope();
  const Tensor skip = arena.take(DType::f32, {coarse.shape[0], width});
  const Tensor y = arena.take(DType::f32, {decoded.shape[0], width});
  ops::gemm(context, {coarse, &weights_.fine_skip, Activation::none, {}, skip});
  ops::gemm(context, {decoded, &weights_.fine_project, Activation::none, {}, y});
  ops::repeat_rows(context, {skip,
                             config_.coarse_bin(),
                             &batch.coarse(),
                             &batch.bases(),
                             y,
                             {},
                             {{}, {}, Activation::gelu_sigmoid, embedding}});
  const Tensor wanted = pass.find(info_.embeddings[0].output());
  if (!wanted.empty()) ops::map(context, ops::map_copy(embedding, wanted));
  return embedding;
}

// The mean of both directions of each pair, normalised and activated: the embedding of pairs; and
// its product.
void AlphaGenome::contact_maps(Pass& pass, const Batch& batch, const Tensor& pair) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const std::int64_t n = batch.n_windows * batch.n_pairs * batch.n_pairs;
  const std::int64_t channels = config_.pair_channels;
  const Tensor mean =
      arena.take(DType::f32, {batch.n_windows, batch.n_pairs, batch.n_pairs, channels});
  ops::map(
      context,
      ops::make_map({pair, tensor::permuted(pair, {0, 2, 1, 3})},
                    {{MapCode::add, 1}, {MapCode::multiply, ops::Map::kNumber, 0, 0.5f}}, mean));
  const Tensor rows(mean.data, mean.dtype, {n, channels});
  const Tensor read = arena.take(context.compute_dtype(), {n, channels});
  ops::add_layer_norm(context, {rows, {}, weights_.pair_norm, {}, rows, {}, ops::NormKind::rms});
  ops::map(context, ops::map_function(MapCode::gelu_sigmoid, rows, read));
  const Tensor wanted = pass.find(info_.embeddings[2].output());
  if (!wanted.empty()) ops::map(context, ops::map_function(MapCode::gelu_sigmoid, rows, wanted));
  const Tensor out = pass.find(std::string("tracks.") + kContactMaps);
  for (std::size_t i = 0; i < heads_.size(); ++i)
    if (heads_[i].name == kContactMaps && !out.empty())
      ops::gemm(context, {read, &weights_.heads[i].linear, Activation::none, {}, out});
}

ModelDef alphagenome_model() {
  return {"alphagenome",
          "AlphaGenome",
          Reads::dna,
          {"tracks", "embed", "variants", "mutagenesis"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            AlphaGenome::Options wanted;
            wanted.maps = options.maps;
            const alphagenome::Config shape = alphagenome::read_config(config);
            if (const auto organism = options.values.choice(kOrganism))
              wanted.weights.organism = alphagenome::find_organism(config, shape, *organism);
            if (options.values.choice(kPairGelu) == "erf")
              wanted.pair_gelu = alphagenome::PairGelu::erf;
            if (options.choose_heads)
              wanted.weights.heads = options.choose_heads(alphagenome::all_heads(
                  shape, window_bases(config, shape, 0), wanted.weights.organism));
            return std::make_unique<AlphaGenome>(folder, config, context, std::move(wanted));
          },
          tensor::Precision::fp32,
          {{.name = kOrganism,
            .kind = ModelOption::Kind::choice,
            .help = "AlphaGenome's organism: human, mouse [the folder's first]",
            .value_name = "NAME",
            .choices = {"auto", "human", "mouse"},
            .refusal = "{option} is for {owners}; {model} has other heads for other organisms"},
           {.name = kPairGelu,
            .kind = ModelOption::Kind::choice,
            .help = "GELU of AlphaGenome's pair parts: tanh, erf (as alphagenome-pytorch) [tanh]",
            .value_name = "FORM",
            .choices = {"tanh", "erf"}}}};
}

}  // namespace biogpu::models
