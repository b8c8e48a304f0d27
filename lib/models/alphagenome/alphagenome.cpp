#include "lib/models/alphagenome/alphagenome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr std::int64_t kDefaultBases = 131072;
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
    : AlphaGenome(folder, config, alphagenome::read_config(config), context, std::move(options)) {}

AlphaGenome::AlphaGenome(const std::string& folder, const ModelConfig& config,
                         alphagenome::Config shape, tensor::Context& context, Options options)
    : DnaModel(context,
               {{DType::f32, window_bases(config, shape, options.n_bases) / shape.coarse_bin(),
                 shape.width()}}),
      config_(std::move(shape)),
      pair_gelu_(options.pair_gelu),
      reach_(alphagenome::encoder_taps(config_.n_down_blocks + 1),
             window_bases(config, config_, options.n_bases)) {
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
  const Needs all = needs({});
  const DType operand = context.compute_dtype();
  embeddings_.emplace(
      context,
      std::vector<KeptStore::Array>{
          {operand, all.fine ? n_bases : 0, config_.fine_width()},
          {operand, all.coarse ? n_bases / config_.coarse_bin() : 0, config_.coarse_width()},
          {operand, all.contacts ? n_pairs * n_pairs : 0, config_.pair_channels}});
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
  return run_task({letters}, request);
}

Outputs AlphaGenome::run_task(Task task, const Request& request) {
  const auto length = static_cast<std::size_t>(info_.window);
  const std::int64_t n_windows = std::ssize(task.letters) / info_.window;
  std::vector<KeptStore::Slot> site_slots;  // of windows whose junctions are asked for later
  if (has_junctions(request)) {
    std::int64_t first = 0;
    if (request.sites != nullptr) {
      site_slots = embeddings_->take(static_cast<std::size_t>(n_windows));
      first = static_cast<std::int64_t>(*site_slots.front());
      if (static_cast<std::int64_t>(*site_slots.back()) != first + n_windows - 1)
        throw std::logic_error("slots of sites that are not next to each other");
    } else {
      embeddings_->reserve(static_cast<std::size_t>(n_windows));
    }
    task.kept.fine =
        embeddings_->rows(0).slice(0, first * info_.window, (first + n_windows) * info_.window);
  }
  std::vector<KeptStore::Slot> slots;
  if (request.kept != nullptr) slots = kept_store_.take(static_cast<std::size_t>(n_windows));
  task.slots = slots;
  Outputs outputs = run_pass([&](Pass& pass) { forward(pass, task, request); });
  if (!site_slots.empty())
    keep_sites(std::move(site_slots), outputs, request);
  else if (has_junctions(request))
    add_junctions(task.kept.fine, n_windows, outputs);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto of_window = task.letters.subspan(i * length, length);
    request.kept->push_back({{of_window.begin(), of_window.end()}, std::move(slots[i])});
  }
  return outputs;
}

bool AlphaGenome::is_near(std::span<const std::uint8_t> kept,
                          std::span<const std::uint8_t> changed) const {
  return is_near_for(reach_, kept, changed);
}

Outputs AlphaGenome::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  std::vector<std::uint8_t> letters;
  for (const ChangedWindow& window : windows)
    letters.insert(letters.end(), window.letters.begin(), window.letters.end());
  Request wanted = request;
  wanted.parts = false;
  // Whole windows of bases read all levels of the encoder.
  if (needs(wanted).fine && !read_parts(wanted, std::ssize(windows))) return run(letters, wanted);
  const ChangedParts changed(reach_, windows);
  return run_task({letters, &changed}, wanted);
}

std::size_t AlphaGenome::measure(std::int64_t n_windows, const Request& request) const {
  const std::vector<std::uint8_t> letters(static_cast<std::size_t>(n_windows * info_.window));
  Task task{letters};
  std::size_t kept = 0;
  if (has_junctions(request)) {
    task.kept.fine =
        Tensor(nullptr, context_.compute_dtype(), {n_windows * info_.window, config_.fine_width()});
    // Kept sites of the reference take memory in addition to those of a pass.
    const std::int64_t n_kept = n_windows + (request.sites != nullptr ? 1 : 0);
    kept = embeddings_->window_bytes() * static_cast<std::size_t>(n_kept);
  }
  return kept + measure_pass([&](Pass& pass) { forward(pass, task, request); });
}

bool AlphaGenome::has_junctions(const Request& request) const {
  if (!weights_.junctions) return false;
  for (std::size_t i = 0; i < heads_.size(); ++i)
    if (heads_[i].name == alphagenome::kJunctions && request.wants_tracks(i)) return true;
  return request.sites != nullptr;
}

void AlphaGenome::reserve_sites(std::size_t n_windows) {
  if (weights_.junctions) embeddings_->reserve(n_windows);
}

SpliceSites AlphaGenome::select_sites(std::span<const float> probabilities) const {
  return alphagenome::select_sites(probabilities);
}

void AlphaGenome::keep_sites(std::vector<KeptStore::Slot> slots, const Outputs& outputs,
                             const Request& request) const {
  const io::SharedArray& probabilities = outputs.at(alphagenome::kSiteProbabilities).values;
  const std::size_t size = probabilities.size() / slots.size();
  const std::optional<alphagenome::ReadParts> parts = read_parts(request, std::ssize(slots));
  for (std::size_t w = 0; w < slots.size(); ++w)
    request.sites->push_back({std::move(slots[w]), probabilities.piece(w * size, size),
                              parts ? parts->parts[w].begin * config_.coarse_bin() : 0});
}

Outputs AlphaGenome::run_junctions(const SiteWindow& window, const SpliceSites& sites,
                                   const SiteRows& rows) {
  if (!weights_.junctions) return DnaModel::run_junctions(window, sites, rows);
  const std::int64_t n = std::ssize(window.probabilities) / alphagenome::kSpliceClasses;
  const Tensor of_window = embeddings_->rows(0, *window.slot).slice(0, 0, n);
  const SiteRows kept = alphagenome::rows_behind(rows, window.first, n);
  const Outputs strands = run_pass([&](Pass& pass) {
    pass.depends_on(reinterpret_cast<std::uintptr_t>(of_window.data));
    pass.depends_on(static_cast<std::uint64_t>(n));
    alphagenome::predict_junctions(pass, *weights_.junctions, of_window, sites, kept);
  });
  alphagenome::Junctions joined = alphagenome::join_strands(*weights_.junctions, sites, strands);
  joined.tracks.name = "junctions";
  Outputs outputs;
  outputs.add(std::move(joined.tracks));
  return outputs;
}

// site_rows: embeddings of the bases of all windows, of which those of splice sites are read.
void AlphaGenome::add_junctions(const Tensor& site_rows, std::int64_t n_windows, Outputs& outputs) {
  const io::SharedArray probabilities = outputs.at(alphagenome::kSiteProbabilities).values;
  const auto size = static_cast<std::size_t>(info_.window * alphagenome::kSpliceClasses);
  for (std::int64_t w = 0; w < n_windows; ++w) {
    const float* const first = probabilities.data() + static_cast<std::size_t>(w) * size;
    const SpliceSites sites = alphagenome::select_sites({first, size});
    const Tensor rows = site_rows.slice(0, w * info_.window, (w + 1) * info_.window);
    const Outputs strands = run_pass([&](Pass& pass) {
      pass.depends_on(reinterpret_cast<std::uintptr_t>(rows.data));
      alphagenome::predict_junctions(pass, *weights_.junctions, rows, sites,
                                     alphagenome::own_rows(sites));
    });
    alphagenome::Junctions joined = alphagenome::join_strands(*weights_.junctions, sites, strands);
    joined.tracks.name = fmt::format("tracks.{}.{}", alphagenome::kJunctions, w);
    alphagenome::mark_unknown_sites({first, size}, sites, joined.positions);
    joined.positions.name = fmt::format("positions.{}.{}", alphagenome::kJunctions, w);
    outputs.add(std::move(joined.tracks));
    outputs.add(std::move(joined.positions));
  }
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
            .help = "predict for this organism of AlphaGenome: human or mouse [the folder's first]",
            .value_name = "NAME",
            .choices = {"auto", "human", "mouse"},
            .refusal = "{option} is for {owners}; {model} has other heads for other organisms"},
           {.name = kPairGelu,
            .kind = ModelOption::Kind::choice,
            .help = "compute GELU in AlphaGenome's pair parts by tanh or erf (as "
                    "alphagenome-pytorch) [tanh]",
            .value_name = "FORM",
            .choices = {"tanh", "erf"}}}};
}

}  // namespace biogpu::models
