// The GPU backend of `align`: sorts the pairs, cuts them into batches that fit the memory, keeps
// two batches in flight, and puts the results back into the order of the input.
#include "lib/align/align_gpu.hpp"

#include <algorithm>
#include <array>

#include "gpu/align/kernel_choice.hpp"
#include "gpu/align/long_aligner.hpp"
#include "gpu/align/pair_batch.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"
#include "lib/align/align_gpu_scheme.hpp"
#include "lib/align/border.hpp"
#include "lib/core/error.hpp"

namespace biogpu::align {
namespace {

namespace cells = biogpu::gpu::align;

// Of the free memory where the caller sets no limit: other users of the device need some.
constexpr double kShareOfFreeMemory = 0.9;
// Above this a batch gains nothing and takes long to fill.
constexpr std::uint64_t kMostBatchBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastBatchBytes = std::uint64_t{1} << 16;
constexpr std::size_t kMostBatchPairs = std::size_t{1} << 20;
// A pair of more cells is worth all multiprocessors; one group of lanes would take seconds.
constexpr std::uint64_t kLongCells = std::uint64_t{1} << 28;
constexpr std::size_t kInFlight = 2;

// Whether a target holds the classes 0..3 alone; each is looked through once, and none where the
// answer is not wanted.
class FourLetters {
 public:
  FourLetters(const SequenceSet& targets, bool wanted)
      : targets_(targets), known_(wanted ? targets.size() : 0, kUnknown) {}

  bool operator()(std::uint32_t target) {
    if (known_.empty()) return false;
    if (known_[target] == kUnknown) {
      std::uint8_t highest = 0;
      for (const std::uint8_t residue : targets_.sequence(target))
        highest = std::max(highest, residue);
      known_[target] = highest < 4 ? kYes : kNo;
    }
    return known_[target] == kYes;
  }

 private:
  static constexpr std::uint8_t kUnknown = 0, kNo = 1, kYes = 2;
  SequenceSet targets_;
  std::vector<std::uint8_t> known_;
};

// Results as they come in, by pair: a path lies anywhere in `runs`.
struct Results {
  std::vector<Alignment> rows;
  std::vector<std::uint32_t> runs;
};

class OneGpuAligner final : public GpuAligner {
 public:
  OneGpuAligner(int device, const Options& options, std::uint64_t max_device_bytes)
      : device_(device), options_(options) {
    with_device_errors([&] {
      gpu::set_device(device_);
      const auto free_bytes = static_cast<double>(gpu::memory_info().free_bytes);
      budget_ = max_device_bytes != 0 ? max_device_bytes
                                      : static_cast<std::uint64_t>(free_bytes * kShareOfFreeMemory);
      batch_limit_ = std::min(kMostBatchBytes, budget_ / kInFlight);
      upload_scores();
      settings_.scheme = scheme_of(options_);
      settings_.scheme.scores = scores_.data();
      settings_.scheme.packed_words = packed_words_.data();
      settings_.max_score = options_.scoring.max_score();
      settings_.with_path = options_.output == Output::cigar;
      for (auto& slot : slots_) slot = std::make_unique<cells::PairBatch>(settings_);
      long_ = std::make_unique<cells::LongAligner>(settings_);
    });
  }

  Alignments align(const Work& work) override {
    validate(work, options_);
    for (const Pair& pair : work.pairs)
      require_int32(options_, work.queries.length(pair.query), work.targets.length(pair.target));
    return with_device_errors([&] {
      gpu::set_device(device_);
      Results results;
      results.rows.resize(work.pairs.size());
      align_until_it_fits(work, results);
      return in_input_order(work, results);
    });
  }

  double device_seconds() const override { return seconds_; }
  std::uint64_t peak_device_bytes() const override { return peak_bytes_; }

 private:
  // Pairs in the order in which batches are cut, and indices of those aligned one by one.
  struct Planned {
    std::uint64_t key;  // kernel, tiles, columns: neighbours share a wave
    std::uint32_t index;
    cells::KernelChoice kernel;
  };
  struct Plan {
    std::vector<Planned> batched;
    std::vector<std::uint32_t> one_by_one;
  };

  void upload_scores() {
    const std::vector<std::int8_t> table = score_table(options_.scoring);
    const std::vector<std::uint32_t> words = packed_words(options_.scoring);
    scores_ = gpu::DeviceBuffer<std::int8_t>(table.size());
    packed_words_ = gpu::DeviceBuffer<std::uint32_t>(words.size());
    gpu::Stream stream;
    stream.copy_to_device(scores_.data(), table.data(), table.size());
    stream.copy_to_device(packed_words_.data(), words.data(), packed_words_.bytes());
    stream.synchronize();
  }

  static cells::PairInput input_of(const Work& work, std::uint32_t index,
                                   const cells::KernelChoice& kernel) {
    const Pair& pair = work.pairs[index];
    return {work.queries.sequence(pair.query), work.targets.sequence(pair.target), pair.query,
            pair.target, kernel};
  }

  // Halves the batches for as long as the device has too little memory for them. Every attempt
  // starts anew, so that results do not depend on where the last one ended.
  void align_until_it_fits(const Work& work, Results& results) {
    for (;;) {
      try {
        results.runs.clear();
        const Plan plan = make_plan(work);
        run_batches(work, plan.batched, results);
        for (const std::uint32_t index : plan.one_by_one) run_long(work, index, results);
        return;
      } catch (const gpu::DeviceError& error) {
        if (error.kind() != gpu::DeviceError::Kind::out_of_memory ||
            batch_limit_ / 2 < kLeastBatchBytes) {
          throw;
        }
        batch_limit_ /= 2;
        budget_ /= 2;
        release_memory();
      }
    }
  }

  Plan make_plan(const Work& work) const {
    Plan plan;
    plan.batched.reserve(work.pairs.size());
    FourLetters four_letters(work.targets, cells::allows_packed(settings_));
    for (std::uint32_t i = 0; i < work.pairs.size(); ++i) {
      const std::uint64_t m = work.queries.length(work.pairs[i].query);
      const std::uint64_t n = work.targets.length(work.pairs[i].target);
      if (m == 0 || n == 0) continue;
      const auto rows = static_cast<std::int64_t>(m);
      const auto columns = static_cast<std::int64_t>(n);
      const cells::KernelChoice kernel =
          cells::choose_kernel(rows, columns, four_letters(work.pairs[i].target), settings_);
      if (m * n >= kLongCells ||
          cells::pair_bytes(rows, columns, kernel, settings_.with_path) > batch_limit_) {
        plan.one_by_one.push_back(i);
        continue;
      }
      const auto kind = static_cast<std::uint64_t>(kernel.shape + (kernel.packed ? 8 : 0));
      const auto tiles = static_cast<std::uint64_t>(kernel.n_tiles);
      plan.batched.push_back({kind << 60 | tiles << 30 | n, i, kernel});
    }
    std::sort(plan.batched.begin(), plan.batched.end(), [](const Planned& a, const Planned& b) {
      return a.key != b.key ? a.key > b.key : a.index < b.index;  // the longest first
    });
    return plan;
  }

  std::uint64_t bytes_of(const Work& work, const Planned& pair) const {
    const Pair& sequences = work.pairs[pair.index];
    return cells::pair_bytes(static_cast<std::int64_t>(work.queries.length(sequences.query)),
                             static_cast<std::int64_t>(work.targets.length(sequences.target)),
                             pair.kernel, settings_.with_path);
  }

  // The workspace that all of the work would need, within the limits: small work takes little.
  void reserve_slots(const Work& work, std::span<const Planned> order) {
    std::uint64_t all = 0;
    std::uint64_t largest = 0;
    for (const Planned& pair : order) {
      const std::uint64_t bytes = bytes_of(work, pair);
      all += bytes;
      largest = std::max(largest, bytes);
    }
    const std::uint64_t wanted =
        std::clamp(all / kInFlight + largest, largest, std::max(batch_limit_, largest));
    if (slots_[0]->device_bytes() < wanted) long_->release();
    for (auto& slot : slots_) slot->reserve(wanted);
    slot_bytes_ = wanted;
    note_peak(0);
  }

  void run_batches(const Work& work, std::span<const Planned> order, Results& results) {
    if (order.empty()) return;
    reserve_slots(work, order);
    std::array<std::vector<std::uint32_t>, kInFlight> in_flight;
    std::vector<cells::PairInput> inputs;
    std::size_t next = 0;
    std::size_t turn = 0;
    const auto collect = [&](std::size_t slot) {
      if (in_flight[slot].empty()) return;
      slots_[slot]->collect();
      seconds_ += slots_[slot]->device_seconds();
      take_results(*slots_[slot], in_flight[slot], results);
      in_flight[slot].clear();
    };
    while (next < order.size()) {
      const std::size_t slot = turn++ % kInFlight;
      collect(slot);
      inputs.clear();
      std::uint64_t bytes = 0;
      for (; next < order.size() && inputs.size() < kMostBatchPairs; ++next) {
        bytes += bytes_of(work, order[next]);
        if (bytes > slot_bytes_) break;
        inputs.push_back(input_of(work, order[next].index, order[next].kernel));
        in_flight[slot].push_back(order[next].index);
      }
      slots_[slot]->submit(inputs);
    }
    for (std::size_t slot = 0; slot < kInFlight; ++slot) collect(turn++ % kInFlight);
  }

  void take_results(const cells::PairBatch& batch, std::span<const std::uint32_t> indices,
                    Results& results) const {
    const std::uint64_t first_run = results.runs.size();
    results.runs.insert(results.runs.end(), batch.runs().begin(), batch.runs().end());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      static constexpr cells::PairPath kNoPath = {0, 0, 0, 0};
      const cells::PairPath& path = settings_.with_path ? batch.paths()[i] : kNoPath;
      set_row(results.rows[indices[i]], batch.ends()[i], path, first_run + path.run_begin);
    }
  }

  void set_row(Alignment& row, const cells::PairEnd& end, const cells::PairPath& path,
               std::uint64_t first_run) const {
    row = {};
    row.score = end.score;
    if (options_.output == Output::score) return;
    row.query_end = end.row;
    row.target_end = end.column;
    if (options_.output == Output::ends) return;
    row.query_begin = path.row_begin;
    row.target_begin = path.column_begin;
    row.n_cigar = path.n_runs;
    row.cigar_begin = first_run;
  }

  void run_long(const Work& work, std::uint32_t index, Results& results) {
    const cells::PairInput input = input_of(work, index, {});
    const auto m = static_cast<std::int64_t>(input.query.size());
    const auto n = static_cast<std::int64_t>(input.target.size());
    const auto plan = cells::plan_long_pair(m, n, settings_.with_path, budget_);
    if (!plan) {
      throw gpu::DeviceError(gpu::DeviceError::Kind::out_of_memory,
                             "a pair of " + std::to_string(m) + " and " + std::to_string(n) +
                                 " residues does not fit " + std::to_string(budget_) +
                                 " bytes of device memory; use --device cpu or a larger device");
    }
    for (auto& slot : slots_) slot = std::make_unique<cells::PairBatch>(settings_);
    const cells::LongResult result = long_->align(input, *plan);
    note_peak(plan->bytes);
    seconds_ += long_->device_seconds();
    const std::uint64_t first_run = results.runs.size();
    results.runs.insert(results.runs.end(), result.runs.begin(), result.runs.end());
    set_row(results.rows[index], result.end, result.path, first_run);
  }

  // Paths are moved to where the input order wants them, so that the whole answer, not only each
  // row, is the same for every size of batches. Pairs with an empty side are answered here.
  Alignments in_input_order(const Work& work, Results& results) const {
    Alignments alignments;
    alignments.rows = std::move(results.rows);
    alignments.cigar.reserve(results.runs.size());
    for (std::size_t i = 0; i < alignments.rows.size(); ++i) {
      Alignment& row = alignments.rows[i];
      const auto m = static_cast<std::int64_t>(work.queries.length(work.pairs[i].query));
      const auto n = static_cast<std::int64_t>(work.targets.length(work.pairs[i].target));
      if (m == 0 || n == 0) {
        row = align_empty(options_, m, n, alignments.cigar);
        continue;
      }
      if (row.n_cigar == 0) continue;
      const auto from = results.runs.begin() + static_cast<std::ptrdiff_t>(row.cigar_begin);
      row.cigar_begin = alignments.cigar.size();
      alignments.cigar.insert(alignments.cigar.end(), from, from + row.n_cigar);
    }
    for (Alignment& row : alignments.rows) {
      if (row.n_cigar == 0) row.cigar_begin = 0;
    }
    return alignments;
  }

  void note_peak(std::uint64_t other_bytes) {
    std::uint64_t bytes = scores_.bytes() + other_bytes;
    for (const auto& slot : slots_) bytes += slot->device_bytes();
    peak_bytes_ = std::max(peak_bytes_, bytes);
  }

  void release_memory() {
    for (auto& slot : slots_) slot = std::make_unique<cells::PairBatch>(settings_);
    long_->release();
  }

  int device_;
  Options options_;
  std::uint64_t budget_ = 0;
  std::uint64_t batch_limit_ = 0;
  std::uint64_t slot_bytes_ = 0;
  gpu::DeviceBuffer<std::int8_t> scores_;
  gpu::DeviceBuffer<std::uint32_t> packed_words_;
  cells::BatchSettings settings_;
  std::array<std::unique_ptr<cells::PairBatch>, kInFlight> slots_;
  std::unique_ptr<cells::LongAligner> long_;
  double seconds_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace

std::unique_ptr<GpuAligner> make_gpu_aligner_of_backend(int device, const Options& options,
                                                        std::uint64_t max_device_bytes) {
  return std::make_unique<OneGpuAligner>(device, options, max_device_bytes);
}

}  // namespace biogpu::align
