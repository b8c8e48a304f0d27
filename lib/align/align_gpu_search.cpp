// The GPU backend of `search`: sorts the targets by length and lays them out in parts that fit the
// device, takes local scores from the packed kernel, and leaves to GpuAligner what that kernel does
// not do: other modes, targets too long for it, and scores past 16 bits.
#include "lib/align/align_gpu_search.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>

#include "gpu/align/search/search_batch.hpp"
#include "gpu/rt/device.hpp"
#include "lib/align/align_gpu.hpp"
#include "lib/align/align_gpu_scheme.hpp"
#include "lib/align/border.hpp"

namespace biogpu::align {
namespace {

namespace cells = biogpu::gpu::align;

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
constexpr std::uint64_t kMostPartBytes = std::uint64_t{1} << 33;
constexpr std::uint64_t kMostRunBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostSplitBytes = std::uint64_t{1} << 30;
// A longer target would hold up its block, and its borders take memory in every block.
constexpr std::uint64_t kLongestTarget = 16384;
constexpr std::size_t kMostPairs = std::size_t{1} << 18;
// Letters are laid out and copied in pieces of at least this many bytes.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 25;

// A part of the target set; `global` turns its numbers into indices and ascends.
struct TargetPart {
  cells::SearchPart device;
  std::vector<std::uint32_t> global;
};

class OneGpuSearcher final : public GpuSearcher {
 public:
  OneGpuSearcher(int device, const SequenceSet& targets, const Options& options,
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
    aligner_ = make_gpu_aligner_of_backend(device_, options_, share(kAlignerShares));
    validate({targets_, targets_, {}}, options_);
    const bool packed =
        begins_anywhere(options_) && options_.band == kNoBand && cells::allows_search(settings_);
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
    scores_ = gpu::DeviceBuffer<std::int8_t>(table.size());
    gpu::Stream stream;
    stream.copy_to_device(scores_.data(), table.data(), table.size());
    stream.synchronize();
    settings_.scores = scores_.data();
    settings_.n_classes = options_.scoring.n_classes;
    settings_.gap_open = options_.scoring.gap_open;
    settings_.gap_extend = options_.scoring.gap_extend;
    settings_.max_score = options_.scoring.max_score();
    settings_.min_score = options_.scoring.min_score();
    settings_.top = search_.top;
    settings_.min_hit = static_cast<std::uint32_t>(std::clamp(search_.min_score, 0, 65535));
    settings_.max_split_bytes = std::min(kMostSplitBytes, share(kSplitShares));
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
    const std::uint64_t most_bytes = std::min(kMostPartBytes, share(kTargetShares));
    std::span<const std::uint32_t> rest(order);
    while (!rest.empty()) rest = rest.subspan(add_part(rest, most_bytes));
  }

  // Returns how many of the targets, which are sorted by length, the new part takes.
  std::size_t add_part(std::span<const std::uint32_t> order, std::uint64_t most_bytes) {
    TargetPart part;
    constexpr std::size_t kBatch = cells::kSearchTargets;
    std::uint64_t letters = cells::kSearchPadding;
    std::size_t n = 0;
    for (; n < order.size(); n += kBatch) {
      cells::SearchTargets batch;
      batch.begin = letters;
      batch.n_columns = static_cast<std::int32_t>(targets_.length(order[n]));
      batch.stride = (batch.n_columns + cells::kSearchPadding + 3) / 4 * 4;
      const std::uint64_t bytes = static_cast<std::uint64_t>(batch.stride) * kBatch;
      if (n > 0 && letters + bytes > most_bytes) break;
      letters += bytes;
      part.device.batches.push_back(batch);
    }
    n = std::min(n, order.size());
    part.device.n_letters = letters;
    part.device.n_targets = static_cast<std::uint32_t>(n);
    part.global.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
    std::sort(part.global.begin(), part.global.end());
    part.device.numbers.assign(part.device.batches.size() * kBatch, ~0u);
    for (std::size_t i = 0; i < n; ++i) {
      const auto found = std::lower_bound(part.global.begin(), part.global.end(), order[i]);
      part.device.numbers[i] = static_cast<std::uint32_t>(found - part.global.begin());
    }
    parts_.push_back(std::move(part));
    return n;
  }

  // Lays the letters of a part out and copies them to the device.
  void upload(const TargetPart& part) {
    batch_->begin_part(part.device);
    const auto& batches = part.device.batches;
    constexpr std::size_t kBatch = cells::kSearchTargets;
    const auto padding = static_cast<std::uint8_t>(options_.scoring.n_classes);
    std::vector<std::uint8_t> piece(cells::kSearchPadding, padding);
    std::uint64_t begin = 0;  // of the piece on the device
    for (std::size_t first = 0; first < batches.size();) {
      std::size_t last = first;
      std::uint64_t bytes = begin == 0 ? cells::kSearchPadding : 0;
      for (; last < batches.size() && bytes < kPieceBytes; ++last)
        bytes += static_cast<std::uint64_t>(batches[last].stride) * kBatch;
      piece.assign(bytes, padding);
      tbb::parallel_for(first, last, [&](std::size_t b) {
        for (std::size_t t = 0; t < kBatch; ++t) {
          const std::uint32_t number = part.device.numbers[b * kBatch + t];
          if (number == ~0u) continue;
          const auto from = targets_.sequence(part.global[number]);
          const std::uint64_t to = batches[b].begin - begin + t * batches[b].stride;
          std::copy(from.begin(), from.end(), piece.begin() + static_cast<std::ptrdiff_t>(to));
        }
      });
      batch_->write_letters(begin, piece);
      begin += bytes;
      first = last;
    }
  }

  void search_parts(const SequenceSet& queries) {
    if (parts_.empty()) return;
    std::vector<std::uint32_t> order(queries.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return queries.length(a) > queries.length(b);
    });
    std::vector<cells::SearchQuery> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) sorted.push_back({queries.sequence(i)});
    if (!batch_) batch_ = std::make_unique<cells::SearchBatch>(settings_);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (loaded_ != p) upload(parts_[p]);
      loaded_ = p;
      std::span<const cells::SearchQuery> rest(sorted);
      std::span<const std::uint32_t> numbers(order);
      while (!rest.empty()) {
        const std::size_t n =
            batch_->count_queries(rest, std::min(kMostRunBytes, share(kRunShares)));
        take(queries, numbers.first(n), parts_[p], batch_->run(rest.first(n)));
        rest = rest.subspan(n);
        numbers = numbers.subspan(n);
      }
    }
  }

  // numbers: the queries of the run.
  void take(const SequenceSet& queries, std::span<const std::uint32_t> numbers,
            const TargetPart& part, const cells::SearchResult& result) {
    if (result.all_inexact) return score_pairs(queries, numbers, part.global);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (const cells::SearchHit& hit : result.hits[i])
        pickers_[numbers[i]].offer({part.global[hit.target], static_cast<std::int32_t>(hit.score)});
    }
    std::vector<Pair> pairs;
    for (const std::uint64_t entry : result.inexact)
      pairs.push_back({numbers[entry >> 32], part.global[entry & 0xffffffffu]});
    score(queries, pairs);
  }

  // Scores pairs by the aligner.
  void score(const SequenceSet& queries, const std::vector<Pair>& pairs) {
    if (pairs.empty()) return;
    const Alignments all = aligner_->align({queries, targets_, pairs});
    for (std::size_t i = 0; i < pairs.size(); ++i)
      pickers_[pairs[i].query].offer({pairs[i].target, all.rows[i].score});
  }

  void score_pairs(const SequenceSet& queries, std::span<const std::uint32_t> query_numbers,
                   std::span<const std::uint32_t> target_numbers) {
    std::vector<Pair> pairs;
    for (const std::uint32_t query : query_numbers) {
      for (const std::uint32_t target : target_numbers) {
        pairs.push_back({query, target});
        if (pairs.size() < kMostPairs) continue;
        score(queries, pairs);
        pairs.clear();
      }
    }
    score(queries, pairs);
  }

  int device_;
  SequenceSet targets_;
  Options options_;
  SearchOptions search_;
  std::uint64_t budget_ = 0;
  gpu::DeviceBuffer<std::int8_t> scores_;
  cells::SearchSettings settings_;
  std::vector<TargetPart> parts_;
  std::vector<std::uint32_t> long_targets_;  // by the aligner
  std::unique_ptr<cells::SearchBatch> batch_;
  std::size_t loaded_ = ~std::size_t{0};  // the part on the device
  std::unique_ptr<GpuAligner> aligner_;
  std::vector<HitPicker> pickers_;  // of the call, by query
};

}  // namespace

std::unique_ptr<GpuSearcher> make_gpu_searcher_of_backend(int device, const SequenceSet& targets,
                                                          const Options& options,
                                                          const SearchOptions& search,
                                                          std::uint64_t max_device_bytes) {
  return std::make_unique<OneGpuSearcher>(device, targets, options, search, max_device_bytes);
}

}  // namespace biogpu::align
