#include "lib/models/proteinmpnn/proteinmpnn.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"
#include "lib/io/table_fields.hpp"
#include "lib/models/proteinmpnn/network/batch.hpp"
#include "lib/models/proteinmpnn/network/forward.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr std::int64_t kGpuNeighbours = 48;  // that operations on edges take
// Enough to keep a device busy for milliseconds.
constexpr std::int64_t kMaxRows = 16384, kMaxStates = 65536;

std::vector<float> values_of(const io::SharedArray& all, std::int64_t first, std::int64_t n,
                             std::int64_t width) {
  return {all.begin() + first * width, all.begin() + (first + n) * width};
}

// Of rows of k times width numbers those of the first `used` of each k.
std::vector<float> first_of(const io::SharedArray& all, const Complex& complex, std::int64_t first,
                            std::int64_t k, std::int64_t used, std::int64_t width) {
  std::vector<float> rows;
  for (std::int64_t i = first; i < first + complex.n; ++i)
    rows.insert(rows.end(), all.begin() + i * k * width, all.begin() + (i * k + used) * width);
  return rows;
}

// neighbours: [R, K].
void take_taps(const Work& work, std::int64_t first, std::int64_t k,
               const std::vector<std::int32_t>& neighbours, const Outputs& outputs) {
  EncoderTaps& taps = *work.taps;
  const Complex& complex = *work.complex;
  taps.k = std::min(complex.n, k);
  taps.neighbours.clear();
  for (std::int64_t i = first; i < first + complex.n; ++i)
    for (std::int64_t e = 0; e < taps.k; ++e)
      taps.neighbours.push_back(neighbours[static_cast<std::size_t>(i * k + e)] -
                                static_cast<std::int32_t>(first));
  const auto edges = [&](const char* name, std::int64_t width) {
    return first_of(outputs.at(name).values, complex, first, k, taps.k, width);
  };
  taps.distances = edges(kDistances, 1);
  taps.features = edges(kFeatures, kHidden);
  taps.edges = edges(kEdges, kHidden);
  taps.h = values_of(outputs.at(kResidues).values, first, complex.n, kHidden);
}

void take_sample(const Complex& complex, const Sequence& drawn, const Sequence& scored,
                 const Outputs& outputs, Sample& sample) {
  const std::int64_t first = drawn.first_state, n = drawn.n;
  const io::SharedArray& log_probabilities = outputs.at(kLogProbabilities).values;
  sample.log_probabilities = values_of(log_probabilities, first, n, kLetterCount);
  sample.probabilities = values_of(outputs.at(kProbabilities).values, first, n, kLetterCount);
  sample.letters.clear();
  for (const float letter : values_of(outputs.at(kDrawn).values, first, n, 1))
    sample.letters.push_back(static_cast<std::uint8_t>(letter));
  const auto none = std::find(sample.letters.begin(), sample.letters.end(), kNoLetter);
  if (none != sample.letters.end()) throw_no_letter(complex, sample, none - sample.letters.begin());
  sample.log_probabilities = values_of(log_probabilities, scored.first_state, n, kLetterCount);
}

void take_results(std::span<const Work> works, const Batch& batch, const Outputs& outputs) {
  std::size_t n_samples = 0, n_scored = 0;
  for (const Work& work : works)
    for (Scoring& scoring : work.scorings) {
      const Sequence& sequence = batch.scored(n_scored++);
      scoring.log_probabilities = values_of(outputs.at(kLogProbabilities).values,
                                            sequence.first_state, sequence.n, kLetterCount);
    }
  for (const Work& work : works)
    for (Sample& sample : work.samples) {
      const Sequence& drawn = batch.drawn(n_samples++);
      const bool again = !work.constraints->tied.empty();
      take_sample(*work.complex, drawn, again ? batch.scored(n_scored++) : drawn, outputs, sample);
    }
}

}  // namespace

ProteinMpnn::ProteinMpnn(const std::string& folder, const ModelConfig& config,
                         tensor::Context& context)
    : Model(context), info_(read_info(config)) {
  const bool on_gpu = context.kind() == tensor::Context::Kind::gpu;
  if (on_gpu && info_.n_neighbours > kGpuNeighbours)
    throw Error(ErrorCode::device, fmt::format("{}: has {} neighbours, the GPU takes up to {}",
                                               info_.name, info_.n_neighbours, kGpuNeighbours));
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  n_parameters_ = static_cast<std::uint64_t>(checkpoint.n_numbers());
  tensor::WeightTable table(checkpoint);
  read_weights(context, table, info_, weights_);
  context.synchronize();
  // On a host, structures go one after the other.
  max_states_ = kMaxStates;
  if (!on_gpu) return;
  constexpr auto kNumber = static_cast<std::int64_t>(sizeof(float));
  const std::int64_t row_bytes =
      (4 * info_.n_neighbours * kHidden + 2 * info_.n_neighbours + kNodeProj + 8 * kHidden) *
      kNumber;
  const std::int64_t state_bytes =
      (kNodeProj + kHidden + 3 * kLetterCount + info_.n_neighbours + 16) * kNumber;
  const auto bytes = static_cast<std::int64_t>(context.free_bytes());
  max_rows_ = std::clamp<std::int64_t>(bytes / 2 / row_bytes, 1, kMaxRows);
  max_states_ = std::clamp<std::int64_t>(bytes / 4 / state_bytes, 1, kMaxStates);
}

std::string ProteinMpnn::describe() const {
  return fmt::format(
      "architecture\tproteinmpnn\nname\t{}\nencoder_layers\t{}\ndecoder_layers\t{}\n"
      "width\t{}\nneighbours\t{}\nparameters\t{}\natoms\t{}\nnoise_in_training\t{}\n"
      "vocabulary\t{}\n",
      io::as_field(info_.name), kLayers, kLayers, kHidden, info_.n_neighbours, n_parameters_,
      info_.ca_only ? "CA" : "N CA C O", info_.noise_level, fmt::join(kLetters, " "));
}

void ProteinMpnn::run(std::span<const Work> works) {
  for (const std::vector<Work>& batch : divide(works, max_rows_, max_states_)) run_batch(batch);
}

void ProteinMpnn::run_batch(std::span<const Work> works) {
  if (works.empty()) return;
  Batch batch(works);
  const bool tapped = std::any_of(works.begin(), works.end(),
                                  [](const Work& work) { return work.taps != nullptr; });
  std::vector<std::int32_t> neighbours;
  const Outputs outputs = run_pass([&](Pass& pass) {
    const BatchInputs in = batch.upload(pass);
    const Encoded encoded = take_encoded(pass, batch, info_.n_neighbours, tapped);
    if (batch.n_drawn() > 0) {
      pass.output(kDrawn, {batch.n_drawn(), 1});
      pass.output(kProbabilities, {batch.n_drawn(), kLetterCount});
    }
    if (batch.n_states() > 0) pass.output(kLogProbabilities, {batch.n_states(), kLetterCount});
    pass.depends_on(static_cast<std::uint64_t>(batch.n_drawn()));
    pass.run([&] {
      encode(pass, info_, weights_, in, encoded);
      decode_samples(pass, weights_, batch, in, encoded);
      score(pass, weights_, batch, in, encoded);
    });
    if (!tapped) return;
    neighbours.resize(static_cast<std::size_t>(encoded.rows.size()));
    if (encoded.rows.data != nullptr) context_.copy_out(neighbours.data(), encoded.rows);
  });
  context_.synchronize();
  take_results(works, batch, outputs);
  for (std::size_t w = 0; w < works.size(); ++w)
    if (works[w].taps != nullptr)
      take_taps(works[w], batch.first_row(w), info_.n_neighbours, neighbours, outputs);
}

ModelDef proteinmpnn_model() {
  return {"proteinmpnn",
          "ProteinMPNN",
          Reads::structures,
          {"score", "design"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions&) -> std::unique_ptr<Model> {
            return std::make_unique<ProteinMpnn>(folder, config, context);
          },
          tensor::Precision::fp32};
}

}  // namespace biogpu::models::proteinmpnn
