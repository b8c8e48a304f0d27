// The GPU backend of `align`: cuts the pairs into batches that fit the memory, in the order of the
// input, keeps several in flight, and gives the device to one pair alone where that is large.
#include "gpu/rt/transfer.hpp"
#include "lib/align/align_gpu.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gpu/align/long/long_aligner.hpp"
#include "gpu/align/pairs/pair_batch.hpp"
#include "gpu/rt/device.hpp"
#include "lib/align/border.hpp"
#include "lib/align/gpu/banded_gpu.hpp"
#include "lib/align/gpu/huge_pages_gpu.hpp"
#include "lib/align/gpu/pair_batch_gpu.hpp"
#include "lib/align/gpu/rows_gpu.hpp"
#include "lib/align/gpu/scheme_gpu.hpp"
#include "lib/core/error.hpp"

namespace biogpu::align {
namespace {

namespace kernels = biogpu::gpu::align;

// Of the free memory where the caller sets no limit: other users of the device need some.
constexpr double kShareOfFreeMemory = 0.9;
// Above this a batch gains nothing.
constexpr std::uint64_t kMaxBatchBytes = std::uint64_t{1} << 35;
constexpr std::uint64_t kMaxBandedBytes = std::uint64_t{1} << 35;
constexpr std::uint64_t kMinBatchBytes = std::uint64_t{1} << 14;
// One is staged, one computed, one unpacked.
constexpr std::size_t kInFlight = 3;

class DeviceAligner final : public GpuAligner {
 public:
  DeviceAligner(int device, const Options& options, std::uint64_t max_device_bytes)
      : device_(device), options_(options) {
    with_device_errors([&] {
      gpu::set_device(device_);
      const auto free_bytes = static_cast<double>(gpu::memory_info().free_bytes);
      budget_ = max_device_bytes != 0 ? max_device_bytes
                                      : static_cast<std::uint64_t>(free_bytes * kShareOfFreeMemory);
      batch_limit_ = std::min(kMaxBatchBytes, budget_ / kInFlight);
      set_up();
      for (auto& slot : slots_) slot = std::make_unique<kernels::PairBatch>(settings_);
      long_ = std::make_unique<kernels::LongAligner>(settings_);
      if (options_.band != kNoBand || is_extension(options_))
        banded_ = std::make_unique<BandedAligner>(options_, settings_);
    });
  }

  Alignments align(const Work& work, Alignments spare) override {
    validate(work, options_);
    require_range(work);
    return with_device_errors([&] {
      gpu::set_device(device_);
      return align_until_it_fits(work, spare);
    });
  }

  double device_seconds() const override {
    return seconds_ + (banded_ ? banded_->device_seconds() : 0.0);
  }
  std::uint64_t peak_device_bytes() const override {
    return std::max(peak_bytes_, banded_ ? banded_->peak_device_bytes() : 0);
  }

 private:
  void set_up() {
    const Scoring& scoring = options_.scoring;
    settings_.scheme = scheme_of(options_);
    settings_.max_score = scoring.max_score();
    settings_.min_score = scoring.min_score();
    settings_.with_ends = options_.output != Output::score;
    settings_.with_path = wants_path(options_);
    settings_.with_runs = options_.output == Output::cigar;
    settings_.scheme.packed_raise = kernels::packed_raise(settings_);
    settings_.scheme.packed_bias = kernels::packed_bias(settings_);
    const std::vector<std::int8_t> table = score_table(scoring);
    const std::vector<std::uint32_t> words = packed_words(scoring, settings_.scheme.packed_raise);
    gpu::Stream stream;
    gpu::upload(stream, scores_, table);
    gpu::upload(stream, packed_words_, words);
    stream.synchronize();
    settings_.scheme.scores = scores_.data();
    settings_.scheme.packed_words = packed_words_.data();
  }

  // require_int32() for those pairs alone that come near the limit.
  void require_range(const Work& work) const {
    const Scoring& s = options_.scoring;
    const std::int64_t of_residue = std::max({settings_.max_score, s.gap_extend, 1});
    const std::int64_t of_pair =
        ((std::int64_t{1} << 30) - 512 - 3 * std::int64_t{s.gap_open}) / of_residue;
    const auto safe = static_cast<std::uint64_t>(std::clamp<std::int64_t>(of_pair, 0, 1 << 28));
    if (longest(work.queries) + longest(work.targets) < safe) return;
    for (const Pair& pair : work.pairs) {
      const std::uint64_t m = work.queries.length(pair.query);
      const std::uint64_t n = work.targets.length(pair.target);
      if (m + n >= safe) require_int32(options_, m, n);
    }
  }

  static std::uint64_t longest(const SequenceSet& set) {
    std::uint64_t longest = 0;
    for (std::size_t i = 0; i < set.size(); ++i) longest = std::max(longest, set.length(i));
    return longest;
  }

  // Halves the batches for as long as the device has too little memory for them. Every attempt
  // starts from the beginning, so that results do not depend on where the last one ended.
  Alignments align_until_it_fits(const Work& work, Alignments& spare) {
    for (;;) {
      try {
        return banded_ ? banded_->align(work, std::min(budget_, kMaxBandedBytes))
                       : align_all(work, spare);
      } catch (const gpu::DeviceError& error) {
        release_memory();
        if (error.kind() != gpu::DeviceError::Kind::out_of_memory ||
            batch_limit_ / 2 < kMinBatchBytes) {
          throw;
        }
        batch_limit_ /= 2;
        budget_ /= 2;
      }
    }
  }

  Alignments align_all(const Work& work, Alignments& spare) {
    // Every row is written whole.
    Alignments all = std::move(spare);
    all.cigar.clear();
    if (all.rows.capacity() < work.pairs.size()) all.rows.clear();
    reserve_huge(all.rows, work.pairs.size());
    all.rows.resize(work.pairs.size());
    const FourLetters four_letters(work, kernels::allows_packed(settings_));
    std::array<BatchWork, kInFlight> batches = {BatchWork(work, options_, settings_),
                                                BatchWork(work, options_, settings_),
                                                BatchWork(work, options_, settings_)};
    std::size_t n_submitted = 0, n_collected = 0;
    const auto collect_one = [&] {
      const std::size_t slot = n_collected++ % kInFlight;
      batches[slot].collect(*slots_[slot], all);
      if (batches[slot].size() > 0) seconds_ += slots_[slot]->device_seconds();
    };
    for (std::size_t next = 0; next < work.pairs.size();) {
      if (n_submitted - n_collected == kInFlight) collect_one();
      const std::size_t slot = n_submitted % kInFlight;
      BatchWork& batch = batches[slot];
      batch.plan(next, batch_limit_, four_letters);
      if (batch.last() == next) {  // paths are appended in order: those before come first
        while (n_collected < n_submitted) collect_one();
        run_long(work, static_cast<std::uint32_t>(next), all);
        ++next;
        continue;
      }
      next = batch.last();
      // More to come: room for the largest batch at once instead of growing with each.
      reserve(slot, next < work.pairs.size() ? batch_limit_ : batch.bytes());
      batch.submit(*slots_[slot]);
      ++n_submitted;
    }
    while (n_collected < n_submitted) collect_one();
    return all;
  }

  void reserve(std::size_t slot, std::uint64_t bytes) {
    if (slots_[slot]->device_bytes() < bytes) long_->release();
    slots_[slot]->reserve(bytes);
    note_peak(0);
  }

  void run_long(const Work& work, std::uint32_t index, Alignments& all) {
    const Pair& pair = work.pairs[index];
    const kernels::LongInput input = {work.queries.sequence(pair.query),
                                      work.targets.sequence(pair.target)};
    const auto m = static_cast<std::int64_t>(input.query.size());
    const auto n = static_cast<std::int64_t>(input.target.size());
    const auto plan = kernels::plan_long_pair(m, n, settings_.with_path, budget_);
    if (!plan) {  // smaller batches do not help
      throw Error(ErrorCode::device_memory,
                  "a pair of " + std::to_string(m) + " and " + std::to_string(n) +
                      " residues does not fit " + std::to_string(budget_) +
                      " bytes of device memory; use --device cpu or a larger device");
    }
    std::uint64_t of_slots = 0;
    for (const auto& slot : slots_) of_slots += slot->device_bytes();
    if (of_slots + plan->bytes > budget_) {
      for (auto& slot : slots_) slot = std::make_unique<kernels::PairBatch>(settings_);
    }
    kernels::LongResult result = long_->align(input, *plan);
    note_peak(plan->bytes);
    seconds_ += long_->device_seconds();
    result.path.run_begin = 0;
    Alignment& row = all.rows[index];
    set_gpu_row(options_, row, result.end, result.path);
    if (row.n_cigar == 0) return;
    row.cigar_begin = all.cigar.size();
    all.cigar.insert(all.cigar.end(), result.runs.begin(), result.runs.end());
  }

  void note_peak(std::uint64_t other_bytes) {
    std::uint64_t bytes = scores_.bytes() + packed_words_.bytes() + other_bytes;
    for (const auto& slot : slots_) bytes += slot->device_bytes();
    peak_bytes_ = std::max(peak_bytes_, bytes);
  }

  void release_memory() {
    for (auto& slot : slots_) slot = std::make_unique<kernels::PairBatch>(settings_);
    long_->release();
    if (banded_) banded_->release();
  }

  int device_;
  Options options_;
  std::uint64_t budget_ = 0;
  std::uint64_t batch_limit_ = 0;
  gpu::DeviceBuffer<std::int8_t> scores_;
  gpu::DeviceBuffer<std::uint32_t> packed_words_;
  kernels::BatchSettings settings_;
  std::array<std::unique_ptr<kernels::PairBatch>, kInFlight> slots_;
  std::unique_ptr<kernels::LongAligner> long_;
  std::unique_ptr<BandedAligner> banded_;  // where not all cells take part
  double seconds_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace

std::unique_ptr<GpuAligner> make_device_aligner(int device, const Options& options,
                                                std::uint64_t max_device_bytes) {
  return std::make_unique<DeviceAligner>(device, options, max_device_bytes);
}

const GpuTable kGpuTable = {&make_device_aligner, &make_device_searcher};

}  // namespace biogpu::align
