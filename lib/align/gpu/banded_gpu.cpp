#include "lib/align/gpu/banded_gpu.hpp"

#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lib/align/border.hpp"
#include "lib/align/gpu/huge_pages_gpu.hpp"
#include "lib/align/gpu/rows_gpu.hpp"
#include "lib/align/gpu/scheme_gpu.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::align {
namespace {

namespace kernels = biogpu::gpu::align;
using Asked = kernels::BandedOutput;

// Pairs that a batch takes at most: above this it gains nothing and takes long to fill.
constexpr std::size_t kMaxPairs = std::size_t{1} << 16;

}  // namespace

// Pairs [first, last) of the input; those with an empty side stay out of the tasks.
class BandedAligner::Batch {
 public:
  Batch(const Work& work, const Options& options, const kernels::BatchSettings& settings,
        Asked asked, const std::vector<std::uint32_t>& n_chunks)
      : work_(work), options_(options), settings_(settings), asked_(asked), n_chunks_(n_chunks) {}

  // As many pairs from `first` on as fit. None: pair `first` does not fit at all.
  void plan(std::size_t first, std::uint64_t max_bytes, const std::vector<Alignment>& rows) {
    first_ = last_ = first;
    planned_.clear();
    empty_.clear();
    std::uint64_t bytes = 0;
    for (; last_ < work_.pairs.size() && planned_.size() < kMaxPairs; ++last_) {
      const auto index = static_cast<std::uint32_t>(last_);
      const Pair& pair = work_.pairs[index];
      if (work_.queries.length(pair.query) == 0 || work_.targets.length(pair.target) == 0) {
        empty_.push_back(index);
        continue;
      }
      Planned planned = plan_pair(index, rows[index]);
      const std::uint64_t more = kernels::BandedBatch::count_bytes(1, planned.extents);
      if (planned.extents.chunks >= kernels::kMaxChunks || more > max_bytes - bytes) break;
      bytes += more;
      planned_.push_back(planned);
    }
    // The longest first, so that the last blocks of a launch are short.
    tbb::parallel_sort(planned_.begin(), planned_.end(), [](const Planned& a, const Planned& b) {
      if (a.wide != b.wide) return a.wide;
      if (a.task.last_line != b.task.last_line) return a.task.last_line > b.task.last_line;
      return a.index < b.index;
    });
  }
  std::size_t last() const { return last_; }

  void submit(kernels::BandedBatch& device) {
    if (planned_.empty()) return;
    kernels::BandedExtents sum;
    std::size_t n_wide = 0;
    for (Planned& planned : planned_) {
      const kernels::BandedExtents& own = planned.extents;
      planned.task.query = sum.residues;
      planned.task.target = sum.residues + static_cast<std::uint64_t>(planned.task.n_rows);
      planned.task.ring = sum.ring_words;
      planned.task.lines = sum.lines;
      planned.task.chunks = sum.chunks;
      planned.task.runs = sum.runs;
      sum.residues += own.residues;
      sum.ring_words += own.ring_words;
      sum.lines += own.lines;
      sum.chunks += own.chunks;
      sum.runs += own.runs;
      n_wide += planned.wide ? 1 : 0;
    }
    device.begin(planned_.size(), n_wide, sum, asked_);
    parallel_for_chunks(
        planned_.size(), kPairsOfChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const kernels::BandedTask& task = planned_[i].task;
            const Pair& pair = work_.pairs[planned_[i].index];
            const auto query = work_.queries.sequence(pair.query);
            const auto target = work_.targets.sequence(pair.target);
            std::memcpy(device.residues() + task.query, query.data(), query.size());
            std::memcpy(device.residues() + task.target, target.data(), target.size());
            device.tasks()[i] = task;
          }
        });
    device.submit();
  }

  // Sets rows; n_chunks, or paths in the order of the input.
  void collect(kernels::BandedBatch& device, std::vector<std::uint32_t>& n_chunks,
               Alignments& all) const {
    static constexpr kernels::PairPath kNoPath = {};
    const bool with_path = asked_ == Asked::path;
    if (!planned_.empty()) device.collect();
    Options options = options_;
    if (asked_ == Asked::n_chunks) options.output = Output::ends;
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      const std::uint32_t index = planned_[i].index;
      set_gpu_row(options, all.rows[index], device.ends()[i],
                  with_path ? device.paths()[i] : kNoPath);
      if (asked_ == Asked::n_chunks) n_chunks[index] = device.n_chunks()[i];
    }
    if (asked_ == Asked::n_chunks) return;
    std::vector<std::uint32_t> runs;
    if (with_path && !planned_.empty()) runs.assign(device.runs().begin(), device.runs().end());
    for (const std::uint32_t index : empty_) {
      const Pair& pair = work_.pairs[index];
      all.rows[index] =
          align_empty(options_, static_cast<std::int64_t>(work_.queries.length(pair.query)),
                      static_cast<std::int64_t>(work_.targets.length(pair.target)), runs);
    }
    if (options_.output == Output::cigar) append_paths(runs, first_, last_, all);
  }

  bool is_empty() const { return planned_.empty(); }

 private:
  struct Planned {
    std::uint32_t index = 0;  // in Work::pairs
    bool wide = false;
    kernels::BandedTask task;
    kernels::BandedExtents extents;
  };

  // row: of the pass before, where there was one.
  Planned plan_pair(std::uint32_t index, const Alignment& row) const {
    const Pair& pair = work_.pairs[index];
    const auto m = static_cast<std::int64_t>(work_.queries.length(pair.query));
    const auto n = static_cast<std::int64_t>(work_.targets.length(pair.target));
    const bool extension = is_extension(options_);
    const Band band(options_, m, n);
    Planned planned;
    planned.index = index;
    kernels::BandedTask& task = planned.task;
    task.n_rows = static_cast<std::int32_t>(m);
    task.n_columns = static_cast<std::int32_t>(n);
    task.low = static_cast<std::int32_t>(band.low);
    task.high = static_cast<std::int32_t>(band.high);
    task.last_line = static_cast<std::int32_t>(m + n);
    const std::int64_t width = std::min((band.high - band.low) / 2, std::min(m, n)) + 1;
    // How wide windows get is not known with X-drop; seldom wide.
    planned.wide = !extension && width + kernels::kRingMargin > kernels::kNarrowRing;
    const int shared = planned.wide ? kernels::kWideRing : kernels::kNarrowRing;
    if (width + kernels::kRingMargin > shared)
      task.ring_cells = static_cast<std::int32_t>(
          std::bit_ceil(static_cast<std::uint32_t>(width + kernels::kRingMargin)));
    kernels::BandedExtents& extents = planned.extents;
    extents.residues = static_cast<std::uint64_t>(m + n);
    extents.ring_words = kernels::kRingLines * static_cast<std::uint64_t>(task.ring_cells);
    if (asked_ == Asked::path) {
      extents.chunks = static_cast<std::uint64_t>(m + n) *
                       static_cast<std::uint64_t>(width / kernels::kChunkCells + 1);
      if (extension) {  // up to where the path ends
        extents.chunks = n_chunks_[index];
        task.last_line = row.score == 0 ? 0 : row.query_end + row.target_end + 2;
      }
      if (settings_.with_runs) extents.runs = static_cast<std::uint64_t>(m + n);
    }
    if (asked_ != Asked::ends) extents.lines = static_cast<std::uint64_t>(task.last_line) + 2;
    return planned;
  }

  const Work& work_;
  const Options& options_;
  const kernels::BatchSettings& settings_;
  const Asked asked_;
  const std::vector<std::uint32_t>& n_chunks_;
  std::size_t first_ = 0, last_ = 0;
  std::vector<Planned> planned_;
  std::vector<std::uint32_t> empty_;
};

BandedAligner::BandedAligner(const Options& options, const kernels::BatchSettings& settings)
    : options_(options), settings_(settings) {
  settings_.scheme.local = begins_anywhere(options);
  release();
}

void BandedAligner::release() {
  for (auto& slot : slots_)
    slot = std::make_unique<kernels::BandedBatch>(
        settings_, is_extension(options_) ? options_.xdrop : kernels::kNoDrop);
}

Alignments BandedAligner::align(const Work& work, std::uint64_t max_bytes) {
  Alignments all;
  reserve_huge(all.rows, work.pairs.size());
  all.rows.resize(work.pairs.size());
  if (!settings_.with_path) {
    run(work, max_bytes, Asked::ends, all);
    return all;
  }
  // What X-drop leaves is known only when it is done: once to see how much trace that is.
  if (is_extension(options_)) {
    n_chunks_.assign(work.pairs.size(), kernels::kMaxChunks);
    run(work, max_bytes, Asked::n_chunks, all);
  }
  run(work, max_bytes, Asked::path, all);
  return all;
}

void BandedAligner::run(const Work& work, std::uint64_t max_bytes, Asked asked, Alignments& all) {
  std::array<Batch, kInFlight> batches = {Batch(work, options_, settings_, asked, n_chunks_),
                                          Batch(work, options_, settings_, asked, n_chunks_)};
  std::size_t n_submitted = 0, n_collected = 0;
  const auto collect_one = [&] {
    const std::size_t slot = n_collected++ % kInFlight;
    batches[slot].collect(*slots_[slot], n_chunks_, all);
    if (!batches[slot].is_empty()) seconds_ += slots_[slot]->device_seconds();
  };
  for (std::size_t next = 0; next < work.pairs.size();) {
    if (n_submitted - n_collected == kInFlight) collect_one();
    const std::size_t slot = n_submitted % kInFlight;
    batches[slot].plan(next, max_bytes / kInFlight, all.rows);
    if (batches[slot].last() == next) {
      if (asked != Asked::n_chunks) {  // paths are appended in order: those before come first
        while (n_collected < n_submitted) collect_one();
        align_on_cpu(work, next, all);
      }
      ++next;
      continue;
    }
    next = batches[slot].last();
    batches[slot].submit(*slots_[slot]);
    ++n_submitted;
    std::uint64_t bytes = 0;
    for (const auto& each : slots_) bytes += each->device_bytes();
    peak_bytes_ = std::max(peak_bytes_, bytes);
  }
  while (n_collected < n_submitted) collect_one();
}

void BandedAligner::align_on_cpu(const Work& work, std::size_t index, Alignments& all) const {
  const Work one = {work.queries, work.targets, work.pairs.subspan(index, 1)};
  const Alignments result = align_cpu(one, options_, tbb::this_task_arena::max_concurrency());
  Alignment& row = all.rows[index];
  row = result.rows[0];
  if (row.n_cigar == 0) return;
  row.cigar_begin = all.cigar.size();
  all.cigar.insert(all.cigar.end(), result.cigar.begin(), result.cigar.end());
}

}  // namespace biogpu::align
