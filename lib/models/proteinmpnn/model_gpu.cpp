// The GPU backend's side of lib/models/proteinmpnn/work.hpp.
#include "lib/models/proteinmpnn/model_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/models/proteinmpnn/encoder.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/models/proteinmpnn/batch_gpu.hpp"
#include "lib/models/proteinmpnn/weights_gpu.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr auto kWidth = static_cast<std::size_t>(kHidden);
constexpr auto kLetterWidth = static_cast<std::size_t>(kLetterCount);
constexpr std::size_t kEdgeNumbers =
    static_cast<std::size_t>(gpu::proteinmpnn::kMaxNeighbours) * kWidth;

// Enough to keep a device busy for milliseconds.
constexpr std::size_t kMostRows = 16384;
constexpr std::size_t kMostStates = 65536;
constexpr std::size_t kRowBytes = (4 * kEdgeNumbers + 12 * kWidth) * sizeof(float) + 1024;
constexpr std::size_t kStateBytes = (5 * kWidth + 3 * kLetterWidth) * sizeof(float) + 64;

// Room on the device that grows with the batches.
struct Room {
  gpu::DeviceBuffer<std::int32_t> neighbours;
  gpu::DeviceBuffer<float> distances, h, edges, receiver, edge_ends, features;
  gpu::DeviceBuffer<float> decoder_edges[kLayers], neighbour[kLayers], residue_ends[2];
  gpu::DeviceBuffer<float> seen[kLayers], log_probabilities, probabilities, score_h, score_receiver;
  gpu::DeviceBuffer<std::uint32_t> done;  // and the number of the next unit
  gpu::PinnedBuffer<float> host_log_probabilities, host_probabilities;
  gpu::PinnedBuffer<std::uint8_t> host_letters;

  std::uint64_t device_bytes() const {
    std::uint64_t sum = neighbours.bytes() + distances.bytes() + h.bytes() + edges.bytes() +
                        receiver.bytes() + edge_ends.bytes() + features.bytes() +
                        log_probabilities.bytes() + probabilities.bytes() + score_h.bytes() +
                        score_receiver.bytes() + done.bytes();
    for (const auto& buffer : residue_ends) sum += buffer.bytes();
    for (std::size_t l = 0; l < kLayers; ++l)
      sum += decoder_edges[l].bytes() + neighbour[l].bytes() + seen[l].bytes();
    return sum;
  }
};

// A stretch of a stream's work.
struct Stretch {
  gpu::Event begin, end;
  double seconds() const { return end.seconds_since(begin); }  // once it is over
};

// A sequence to compute: one of a work's samples or scorings.
struct Job {
  std::size_t work = 0;
  Sample* sample = nullptr;
  Scoring* scoring = nullptr;
};

class BackendModel : public GpuModel {
 public:
  BackendModel(int device, const Weights& weights, std::uint64_t max_device_bytes)
      : device_(device), n_neighbours_(static_cast<int>(weights.n_neighbours)) {
    gpu::set_device(device);
    stream_ = std::make_unique<gpu::Stream>();
    encoding_ = std::make_unique<Stretch>();
    computing_ = std::make_unique<Stretch>();
    weights_ = std::make_unique<DeviceWeights>(weights, *stream_);
    peak_bytes_ = weights_->device_bytes();
    const std::uint64_t free = gpu::memory_info().free_bytes;
    const std::uint64_t bytes = max_device_bytes > 0 ? std::min(max_device_bytes, free) : free;
    most_rows_ = std::clamp<std::size_t>(bytes / 2 / kRowBytes, 1, kMostRows);
    most_states_ = std::clamp<std::size_t>(bytes / 4 / kStateBytes, 1, kMostStates);
  }

  void run(std::span<const Work> works) override {
    with_device_errors([&] {
      gpu::set_device(device_);
      for (std::size_t begin = 0; begin < works.size();) {
        std::size_t end = begin, n_rows = 0;
        do {
          n_rows += static_cast<std::size_t>(works[end++].complex->n);
        } while (end < works.size() &&
                 n_rows + static_cast<std::size_t>(works[end].complex->n) <= most_rows_);
        run_group(works.subspan(begin, end - begin));
        begin = end;
      }
    });
  }

  double device_seconds() const override { return seconds_; }
  std::uint64_t peak_device_bytes() const override { return peak_bytes_; }

 private:
  void run_group(std::span<const Work> works) {
    StructureBatch batch;
    std::vector<Job> samples, scorings;
    for (std::size_t w = 0; w < works.size(); ++w) {
      batch.add(works[w]);
      for (Sample& sample : works[w].samples) samples.push_back({w, &sample, nullptr});
      for (Scoring& scoring : works[w].scorings) scorings.push_back({w, nullptr, &scoring});
    }
    encode(batch, works);
    run_jobs(works, batch, samples);
    run_jobs(works, batch, scorings);
    score_tied(works, batch, samples);
    stream_->synchronize();
    seconds_ += encoding_->seconds();
    peak_bytes_ = std::max(peak_bytes_, weights_->device_bytes() + room_.device_bytes() +
                                            batch.device_bytes() + sequences_.device_bytes());
  }

  void reserve_rows(std::size_t n) {
    room_.neighbours.reserve(n * static_cast<std::size_t>(gpu::proteinmpnn::kMaxNeighbours));
    room_.distances.reserve(n * static_cast<std::size_t>(gpu::proteinmpnn::kMaxNeighbours));
    room_.h.reserve(n * kWidth);
    room_.edges.reserve(n * kEdgeNumbers);
    room_.receiver.reserve(n * kWidth);
    room_.edge_ends.reserve(n * 2 * kWidth);
    for (auto& buffer : room_.decoder_edges) buffer.reserve(n * kEdgeNumbers);
    for (auto& buffer : room_.neighbour) buffer.reserve(n * kWidth);
    for (auto& buffer : room_.residue_ends) buffer.reserve(n * 2 * kWidth);
  }

  void encode(StructureBatch& batch, std::span<const Work> works) {
    const auto n = static_cast<std::size_t>(batch.n_rows());
    reserve_rows(n);
    encoding_->begin.record(*stream_);
    batch.send(*stream_);
    structures_ = batch.structures();
    structures_.n_neighbours = n_neighbours_;
    structures_.neighbours = room_.neighbours.data();
    structures_.distances = room_.distances.data();
    encoded_.h = room_.h.data();
    encoded_.edges = room_.edges.data();
    encoded_.receiver = room_.receiver.data();
    encoded_.edge_ends = room_.edge_ends.data();
    for (std::size_t l = 0; l < kLayers; ++l) {
      encoded_.decoder_edges[l] = room_.decoder_edges[l].data();
      encoded_.neighbour[l] = room_.neighbour[l].data();
    }
    for (std::size_t e = 0; e < 2; ++e) encoded_.residue_ends[e] = room_.residue_ends[e].data();
    const bool tapped =
        std::any_of(works.begin(), works.end(), [](const Work& w) { return w.taps != nullptr; });
    if (tapped) room_.features.reserve(n * kEdgeNumbers);
    gpu::proteinmpnn::FeatureArgs features = weights_->features();
    features.structures = structures_;
    features.out = encoded_;
    features.taps = tapped ? room_.features.data() : nullptr;
    gpu::proteinmpnn::launch_neighbours(structures_, *stream_);
    gpu::proteinmpnn::launch_features(features, *stream_);
    for (int l = 0; l < static_cast<int>(kLayers); ++l)
      gpu::proteinmpnn::launch_encoder_layer(
          structures_, weights_->encoder(static_cast<std::size_t>(l)), l, encoded_, *stream_);
    gpu::proteinmpnn::launch_decoder_parts(structures_, weights_->decoder(), encoded_, *stream_);
    encoding_->end.record(*stream_);
    for (std::size_t w = 0; w < works.size(); ++w)
      if (works[w].taps != nullptr) take_taps(works[w], batch.first_row(w));
  }

  // Rows of `width` numbers of a structure's residues, the first `used` of each.
  template <class T>
  std::vector<T> rows_of(const T* device, std::int32_t first, std::int64_t n, std::size_t width,
                         std::size_t used) {
    std::vector<T> all(static_cast<std::size_t>(n) * width), rows;
    stream_->copy_to_host(all.data(), device + static_cast<std::size_t>(first) * width,
                          all.size() * sizeof(T));
    stream_->synchronize();
    for (auto row = all.begin(); row != all.end(); row += static_cast<std::ptrdiff_t>(width))
      rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(used));
    return rows;
  }

  void take_taps(const Work& work, std::int32_t first) {
    EncoderTaps& taps = *work.taps;
    const std::int64_t n = work.complex->n;
    const auto k = static_cast<std::size_t>(std::min<std::int64_t>(n, n_neighbours_));
    constexpr auto kMost = static_cast<std::size_t>(gpu::proteinmpnn::kMaxNeighbours);
    taps.graph.n = n;
    taps.graph.k = static_cast<std::int64_t>(k);
    taps.graph.neighbours = rows_of(room_.neighbours.data(), first, n, kMost, k);
    for (std::int32_t& j : taps.graph.neighbours) j -= first;
    taps.graph.distances = rows_of(room_.distances.data(), first, n, kMost, k);
    taps.features = rows_of(room_.features.data(), first, n, kEdgeNumbers, k * kWidth);
    taps.h = rows_of(room_.h.data(), first, n, kWidth, kWidth);
    taps.edges = rows_of(room_.edges.data(), first, n, kEdgeNumbers, k * kWidth);
  }

  // jobs: all samples, or all scorings.
  void run_jobs(std::span<const Work> works, const StructureBatch& batch,
                std::span<const Job> jobs) {
    for (std::size_t begin = 0; begin < jobs.size();) {
      sequences_.clear();
      std::size_t end = begin;
      do {
        const Job& job = jobs[end++];
        const Complex& complex = *works[job.work].complex;
        const std::int32_t row = batch.first_row(job.work);
        if (job.sample != nullptr)
          sequences_.add(complex, job.work, row, job.sample->order, complex.letters,
                         job.sample->temperature, job.sample->uniforms);
        else
          sequences_.add(complex, job.work, row, job.scoring->order, job.scoring->letters, 1, {});
      } while (end < jobs.size() &&
               sequences_.n_states() + static_cast<std::size_t>(works[jobs[end].work].complex->n) <=
                   most_states_);
      compute(batch, jobs[begin].sample != nullptr);
      take_results(works, jobs.subspan(begin, end - begin));
      begin = end;
    }
  }

  void compute(const StructureBatch& batch, bool draws) {
    const std::size_t n = sequences_.n_states();
    for (auto& buffer : room_.seen) buffer.reserve(n * kWidth);
    room_.log_probabilities.reserve(n * kLetterWidth);
    room_.host_log_probabilities.reserve(n * kLetterWidth);
    computing_->begin.record(*stream_);
    sequences_.send(*stream_);
    gpu::proteinmpnn::Sequences sequences = sequences_.sequences();
    sequences.log_probabilities = room_.log_probabilities.data();
    for (std::size_t l = 0; l < kLayers; ++l) sequences.seen[l] = room_.seen[l].data();
    if (draws)
      decode(batch, sequences);
    else
      score(sequences);
    stream_->copy_to_host(room_.host_log_probabilities.data(), room_.log_probabilities.data(),
                          n * kLetterWidth * sizeof(float));
    computing_->end.record(*stream_);
    stream_->synchronize();
    seconds_ += computing_->seconds();
  }

  void score(const gpu::proteinmpnn::Sequences& sequences) {
    const std::size_t n = sequences_.n_states();
    room_.score_h.reserve(n * kWidth);
    room_.score_receiver.reserve(n * kWidth);
    gpu::proteinmpnn::launch_score({structures_, encoded_, weights_->decoder(), sequences,
                                    room_.score_h.data(), room_.score_receiver.data()},
                                   *stream_);
  }

  void decode(const StructureBatch& batch, const gpu::proteinmpnn::Sequences& sequences) {
    const std::size_t n = sequences_.n_states();
    room_.done.reserve(n + 1);
    room_.probabilities.reserve(n * kLetterWidth);
    room_.host_probabilities.reserve(n * kLetterWidth);
    room_.host_letters.reserve(n);
    stream_->fill(room_.done.data(), 0, (n + 1) * sizeof(std::uint32_t));
    stream_->fill(room_.probabilities.data(), 0, n * kLetterWidth * sizeof(float));
    gpu::proteinmpnn::DecodeArgs args;
    args.structures = structures_;
    args.encoded = encoded_;
    args.weights = weights_->decoder();
    args.sequences = sequences;
    args.rules = batch.rules();
    args.units = sequences_.units();
    args.n_units = static_cast<std::int32_t>(sequences_.n_units());
    args.next_unit = room_.done.data() + n;
    args.done = room_.done.data();
    args.uniforms = sequences_.uniforms();
    args.probabilities = room_.probabilities.data();
    gpu::proteinmpnn::launch_decode(args, *stream_);
    stream_->copy_to_host(room_.host_letters.data(), sequences.letters, n);
    stream_->copy_to_host(room_.host_probabilities.data(), room_.probabilities.data(),
                          n * kLetterWidth * sizeof(float));
  }

  void take_results(std::span<const Work> works, std::span<const Job> jobs) {
    for (std::size_t s = 0; s < jobs.size(); ++s) {
      const auto first = static_cast<std::size_t>(sequences_.sequence(s).first_state);
      const auto n = static_cast<std::size_t>(sequences_.sequence(s).n);
      const auto letters_of = [&](const gpu::PinnedBuffer<float>& from) {
        return std::vector<float>(from.data() + first * kLetterWidth,
                                  from.data() + (first + n) * kLetterWidth);
      };
      if (jobs[s].scoring != nullptr) {
        jobs[s].scoring->log_probabilities = letters_of(room_.host_log_probabilities);
        continue;
      }
      Sample& sample = *jobs[s].sample;
      sample.log_probabilities = letters_of(room_.host_log_probabilities);
      sample.probabilities = letters_of(room_.host_probabilities);
      sample.letters.assign(room_.host_letters.data() + first,
                            room_.host_letters.data() + first + n);
      const auto none =
          std::find(sample.letters.begin(), sample.letters.end(), gpu::proteinmpnn::kNoLetter);
      if (none != sample.letters.end())
        throw_no_letter(*works[jobs[s].work].complex, sample, none - sample.letters.begin());
    }
  }

  // A tied residue was decoded before its partners had letters; its score knows them.
  void score_tied(std::span<const Work> works, const StructureBatch& batch,
                  std::span<const Job> samples) {
    std::vector<Scoring> scorings;
    std::vector<Job> jobs;
    for (const Job& job : samples)
      if (!works[job.work].constraints->tied.empty()) {
        scorings.push_back({job.sample->order, job.sample->letters, {}});
        jobs.push_back({job.work, job.sample, nullptr});
      }
    std::vector<Job> scored = jobs;
    for (std::size_t s = 0; s < jobs.size(); ++s) scored[s] = {jobs[s].work, nullptr, &scorings[s]};
    run_jobs(works, batch, scored);
    for (std::size_t s = 0; s < jobs.size(); ++s)
      jobs[s].sample->log_probabilities = std::move(scorings[s].log_probabilities);
  }

  const int device_;
  const int n_neighbours_;
  std::size_t most_rows_ = 1, most_states_ = 1;
  std::unique_ptr<gpu::Stream> stream_;
  std::unique_ptr<Stretch> encoding_, computing_;  // the last ones; made on the model's device
  std::unique_ptr<DeviceWeights> weights_;
  double seconds_ = 0;
  std::uint64_t peak_bytes_ = 0;
  Room room_;
  SequenceBatch sequences_;
  gpu::proteinmpnn::Structures structures_;
  gpu::proteinmpnn::Encoded encoded_;
};

std::unique_ptr<GpuModel> make_device_model(int device, const Weights& weights,
                                            std::uint64_t max_device_bytes) {
  if (weights.n_neighbours > gpu::proteinmpnn::kMaxNeighbours)
    throw Error(ErrorCode::device,
                fmt::format("{}: has {} neighbours, the GPU takes up to {}", weights.name,
                            weights.n_neighbours, gpu::proteinmpnn::kMaxNeighbours));
  return with_device_errors([&]() -> std::unique_ptr<GpuModel> {
    return std::make_unique<BackendModel>(device, weights, max_device_bytes);
  });
}

}  // namespace

const GpuTable kGpuTable = {&make_device_model};

}  // namespace biogpu::models::proteinmpnn
