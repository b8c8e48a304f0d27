// The GPU backend of `search`: takes local scores from the packed kernel, and leaves to GpuAligner
// what that kernel does not do: other modes, targets too long for it, and scores that its cells do
// not hold. Few of those are scored on the host, which begins while the device is still at work.
#include "gpu/rt/transfer.hpp"
#include "lib/align/align_gpu.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "gpu/align/search/search_batch.hpp"
#include "gpu/rt/device.hpp"
#include "lib/align/border.hpp"
#include "lib/align/gpu/scheme_gpu.hpp"
#include "lib/align/gpu/search_targets_gpu.hpp"

namespace biogpu::align {
namespace {

namespace kernels = biogpu::gpu::align;

// Of the device memory: the rest is for the aligner and for others.
constexpr double kShareOfFreeMemory = 0.7;
// Shares of the budget, in eighths.
constexpr std::uint64_t kShares = 8;
constexpr std::uint64_t kTargetShares = 3;   // letters of a part
constexpr std::uint64_t kRunShares = 2;      // results and profiles of a run
constexpr std::uint64_t kAlignerShares = 2;  // pairs that the packed kernel does not do
constexpr std::uint64_t kSplitShares = 1;    // SearchSettings::max_split_bytes
static_assert(kTargetShares + kRunShares + kAlignerShares + kSplitShares <= kShares);
// Letters of one part and results of one run, at most.
constexpr std::uint64_t kMaxPartBytes = std::uint64_t{1} << 33;
constexpr std::uint64_t kMaxRunBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxSplitBytes = std::uint64_t{1} << 30;
// A longer target would hold up its block, and its borders take memory in every block.
constexpr std::uint64_t kLongestTarget = 16384;
constexpr std::size_t kMaxPairs = std::size_t{1} << 18;
// A pair alone takes one wave of the device, which is slower than a thread with its vectors: so
// many pairs a thread are scored on the host, if none has more cells than this.
constexpr std::size_t kHostPairsOfThread = 4;
constexpr std::uint64_t kMaxHostCells = std::uint64_t{1} << 24;

class DeviceSearcher final : public GpuSearcher {
 public:
  DeviceSearcher(int device, const SequenceSet& targets, const Options& options,
                 const SearchOptions& search, std::uint64_t max_device_bytes)
      : device_(device), targets_(targets), options_(options), search_(search) {
    options_.output = Output::score;
    with_device_errors([&] {
      gpu::set_device(device_);
      const auto free_bytes = static_cast<double>(gpu::memory_info().free_bytes);
      budget_ = max_device_bytes != 0 ? max_device_bytes
                                      : static_cast<std::uint64_t>(free_bytes * kShareOfFreeMemory);
      upload_scores();
    });
    aligner_ = make_device_aligner(device_, options_, share(kAlignerShares));
    validate({targets_, targets_, {}}, options_);
    const bool packed =
        begins_anywhere(options_) && options_.band == kNoBand && kernels::allows_search(settings_);
    plan_targets(packed);
  }

  Hits search(const SequenceSet& queries) override {
    pickers_.assign(queries.size(), HitPicker(search_));
    with_device_errors([&] {
      gpu::set_device(device_);
      search_parts(queries);
    });
    std::vector<std::uint32_t> all(queries.size());
    std::iota(all.begin(), all.end(), 0u);
    score_pairs(queries, all, long_targets_);
    Hits hits;
    for (HitPicker& picker : pickers_) picker.finish(hits);
    return hits;
  }

  double device_seconds() const override {
    return aligner_->device_seconds() + (batch_ ? batch_->device_seconds() : 0.0);
  }
  std::uint64_t peak_device_bytes() const override {
    return aligner_->peak_device_bytes() + (batch_ ? batch_->device_bytes() : 0);
  }

 private:
  std::uint64_t share(std::uint64_t eighths) const { return budget_ / kShares * eighths; }

  void upload_scores() {
    const std::vector<std::int8_t> table = score_table(options_.scoring);
    gpu::Stream stream;
    gpu::upload(stream, scores_, table);
    stream.synchronize();
    settings_.scores = scores_.data();
    settings_.n_classes = options_.scoring.n_classes;
    settings_.gap_open = options_.scoring.gap_open;
    settings_.gap_extend = options_.scoring.gap_extend;
    settings_.max_score = options_.scoring.max_score();
    settings_.min_score = options_.scoring.min_score();
    settings_.top = search_.top;
    settings_.min_hit = static_cast<std::uint32_t>(std::clamp(search_.min_score, 0, 65535));
    settings_.max_split_bytes = std::min(kMaxSplitBytes, share(kSplitShares));
  }

  void plan_targets(bool packed) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < targets_.size(); ++i) {
      const bool is_long = !packed || targets_.length(i) > kLongestTarget;
      (is_long ? long_targets_ : order).push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return targets_.length(a) > targets_.length(b);
    });
    parts_ = lay_out_targets(targets_, order, std::min(kMaxPartBytes, share(kTargetShares)));
  }

  void search_parts(const SequenceSet& queries) {
    if (parts_.empty()) return;
    std::vector<std::uint32_t> order(queries.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return queries.length(a) > queries.length(b);
    });
    std::vector<kernels::SearchQuery> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) sorted.push_back({queries.sequence(i)});
    if (!batch_) batch_ = std::make_unique<kernels::SearchBatch>(settings_);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (loaded_ != p) copy_targets(targets_, parts_[p], options_.scoring.n_classes, *batch_);
      loaded_ = p;
      std::span<const kernels::SearchQuery> rest(sorted);
      std::span<const std::uint32_t> numbers(order);
      while (!rest.empty()) {
        const std::size_t n =
            batch_->count_queries(rest, std::min(kMaxRunBytes, share(kRunShares)));
        early_.clear();
        const auto early = [&](kernels::InexactPairs found) {
          rescore_early(queries, numbers, parts_[p], found);
        };
        take(queries, numbers.first(n), parts_[p], batch_->run(rest.first(n), early));
        rest = rest.subspan(n);
        numbers = numbers.subspan(n);
      }
    }
  }

  // numbers: the queries of the run.
  void take(const SequenceSet& queries, std::span<const std::uint32_t> numbers,
            const TargetPart& part, const kernels::SearchResult& result) {
    if (result.all_inexact) return score_pairs(queries, numbers, part.global);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (const kernels::SearchHit& hit : result.hits[i])
        pickers_[numbers[i]].offer({part.global[hit.target], static_cast<std::int32_t>(hit.score)});
    }
    std::vector<Pair> pairs;
    for (const std::uint64_t entry : result.inexact) {
      const Pair pair = pair_of(entry, numbers, part);
      if (const auto known = early_.find(entry); known != early_.end()) {
        pickers_[pair.query].offer({pair.target, known->second});
      } else {
        pairs.push_back(pair);
      }
    }
    if (pairs.empty()) return;
    const Work work{queries, targets_, pairs};
    const int n_threads = tbb::this_task_arena::max_concurrency();
    const bool few = is_small(work) && pairs.size() <= max_on_host(n_threads);
    offer(pairs, few ? align_cpu(work, options_, n_threads) : aligner_->align(work));
  }

  static Pair pair_of(std::uint64_t entry, std::span<const std::uint32_t> numbers,
                      const TargetPart& part) {
    return {numbers[entry >> 32], part.global[entry & 0xffffffffu]};
  }

  static std::size_t max_on_host(int n_threads) {
    return kHostPairsOfThread * static_cast<std::size_t>(n_threads);
  }

  static bool is_small(const Work& work) {
    return std::all_of(work.pairs.begin(), work.pairs.end(), [&](const Pair& pair) {
      return work.queries.length(pair.query) * work.targets.length(pair.target) <= kMaxHostCells;
    });
  }

  // Scores pairs past what the cells of the search hold while the device works on.
  void rescore_early(const SequenceSet& queries, std::span<const std::uint32_t> numbers,
                     const TargetPart& part, kernels::InexactPairs found) {
    const int n_threads = tbb::this_task_arena::max_concurrency();
    if (early_.size() + found.size() > max_on_host(n_threads)) return;
    std::vector<Pair> pairs;
    for (const std::uint64_t entry : found) pairs.push_back(pair_of(entry, numbers, part));
    const Work work{queries, targets_, pairs};
    if (!is_small(work)) return;
    const Alignments all = align_cpu(work, options_, n_threads);
    for (std::size_t i = 0; i < found.size(); ++i) early_.emplace(found[i], all.rows[i].score);
  }

  void offer(const std::vector<Pair>& pairs, const Alignments& all) {
    for (std::size_t i = 0; i < pairs.size(); ++i)
      pickers_[pairs[i].query].offer({pairs[i].target, all.rows[i].score});
  }

  // Scores pairs by the aligner.
  void score_pairs(const SequenceSet& queries, std::span<const std::uint32_t> query_numbers,
                   std::span<const std::uint32_t> target_numbers) {
    std::vector<Pair> pairs;
    const auto score = [&] {
      if (!pairs.empty()) offer(pairs, aligner_->align({queries, targets_, pairs}));
      pairs.clear();
    };
    for (const std::uint32_t query : query_numbers) {
      for (const std::uint32_t target : target_numbers) {
        pairs.push_back({query, target});
        if (pairs.size() == kMaxPairs) score();
      }
    }
    score();
  }

  int device_;
  SequenceSet targets_;
  Options options_;
  SearchOptions search_;
  std::uint64_t budget_ = 0;
  gpu::DeviceBuffer<std::int8_t> scores_;
  kernels::SearchSettings settings_;
  std::vector<TargetPart> parts_;
  std::vector<std::uint32_t> long_targets_;  // by the aligner
  std::unique_ptr<kernels::SearchBatch> batch_;
  std::size_t loaded_ = ~std::size_t{0};  // the part on the device
  std::unique_ptr<GpuAligner> aligner_;
  std::vector<HitPicker> pickers_;  // of the call, by query
  // Of the run, by entry of InexactPairs: scored while the device was at work.
  std::unordered_map<std::uint64_t, std::int32_t> early_;
};

}  // namespace

std::unique_ptr<GpuSearcher> make_device_searcher(int device, const SequenceSet& targets,
                                                  const Options& options,
                                                  const SearchOptions& search,
                                                  std::uint64_t max_device_bytes) {
  return std::make_unique<DeviceSearcher>(device, targets, options, search, max_device_bytes);
}

}  // namespace biogpu::align
