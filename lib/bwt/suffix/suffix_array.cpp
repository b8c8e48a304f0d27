#include "lib/bwt/suffix/suffix_array.hpp"

#include <atomic>

#include "lib/bwt/fm/gpu_search.hpp"
#include "lib/bwt/suffix/induced_sort.hpp"
#include "lib/bwt/suffix/pair_chains.hpp"
#include "lib/bwt/suffix/rank_doubling.hpp"
#include "lib/bwt/suffix/share_work.hpp"
#include "lib/bwt/suffix/suffix_buckets.hpp"
#include "lib/bwt/suffix/tie_refiner.hpp"
#include "lib/bwt/suffix/word_sort.hpp"
#include "lib/core/error.hpp"

namespace biogpu::bwt {
namespace {

// Words that equal suffixes are compared over before their ranks decide.
constexpr std::uint64_t kDirectWords = 16;
// Shares of the text. Above the first, comparing further costs more than induction; so do rounds of
// doubling that add up to the second.
constexpr double kMostUnresolved = 0.25;
constexpr double kMostRankWork = 2;
// Words for each symbol of the text that a few long ties may be compared over, and fewer words for
// each tie than are worth it.
constexpr std::uint64_t kWordsFurther = 8;
constexpr std::uint64_t kLeastWordsFurther = 512;
// Suffixes that tell whether the text repeats itself.
constexpr std::uint64_t kDrawn = 1u << 12;
// Before so many suffixes are sorted, nothing is known of the text.
constexpr std::uint64_t kLeastEvidence = 1u << 16;

template <class Index>
class SuffixSorter {
 public:
  static constexpr int kPosBits = sizeof(Index) == 4 ? 32 : 40;
  using Word = SuffixWord<kPosBits>;
  // Above 2^32 symbols their memory would be too much.
  static constexpr bool kChainsPairs = sizeof(Index) == 4;

  SuffixSorter(const SuffixSource& source, const SuffixSortSettings& settings)
      : source_(source), settings_(settings), sa_(source.text.size()) {}

  BigArray<Index> run(SuffixSortReport& report) {
    const std::uint64_t n = source_.text.size();
    const bool on_gpu = settings_.gpu >= 0 && sort_on_gpu(report);
    if (settings_.force_induced || !(on_gpu || (!looks_repetitive() && sort_directly(report)))) {
      report.induced = true;
      sort_by_induction();
      return std::move(sa_);
    }
    refine_further();
    if (!groups_.empty()) {
      RankDoubling<Index> doubling(sa_.data(), n, settings_.n_threads);
      const auto max_work = static_cast<std::uint64_t>(kMostRankWork * static_cast<double>(n));
      const bool sorted =
          doubling.run(std::move(groups_), settings_.force_ranks ? ~std::uint64_t{0} : max_work);
      report.n_rank_rounds += doubling.n_rounds();
      if (!sorted) {
        report.induced = true;
        sort_by_induction();
      }
    }
    return std::move(sa_);
  }

 private:
  struct Worker {
    explicit Worker(const SuffixSource& source, Index* sa) : refiner(source, sa) {}
    TieRefiner<Index> refiner;
    std::vector<std::uint64_t> spare;
  };

  // False where the device's memory is too small.
  bool sort_on_gpu(SuffixSortReport& report) {
    GpuSortReport sorted;
    try {
      sort_suffixes_gpu(settings_.gpu,
                        {source_, sa_.data(), sizeof(Index), settings_.n_threads,
                         settings_.gpu_rows, settings_.gpu_bytes},
                        sorted);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device_memory) throw;
      report.why_cpu = error.what();
      return false;
    }
    report.on_gpu = true;
    report.n_rank_rounds = sorted.n_rank_rounds;
    report.n_blocks = sorted.n_blocks;
    report.gpu_s = sorted.device_s;
    report.gpu_copy_s = sorted.copy_s;
    report.device_bytes = sorted.device_bytes;
    groups_ = std::move(sorted.left);
    for (const SuffixGroup& group : groups_) report.n_unresolved += group.size;
    return true;
  }

  // Whether most of a few suffixes drawn from the whole text share two words with another of them:
  // spares the direct sort of one letter, short periods, Fibonacci words.
  bool looks_repetitive() const {
    const std::uint64_t n = source_.text.size();
    const std::uint64_t word = source_.text.symbols_per_word();
    if (settings_.force_ranks || n < kLeastEvidence) return false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> drawn;
    for (std::uint64_t k = 0; k < kDrawn; ++k) {
      const std::uint64_t i = k * (n - 2 * word) / kDrawn + k % word;
      drawn.emplace_back(source_.text.word_at(i), source_.text.word_at(i + word));
    }
    std::sort(drawn.begin(), drawn.end());
    std::uint64_t n_equal = 0;
    for (std::size_t k = 1; k < drawn.size(); ++k) n_equal += drawn[k] == drawn[k - 1] ? 1 : 0;
    return n_equal > kDrawn / 2;
  }

  // False where too much of the text repeats itself: the order is then unfinished.
  bool sort_directly(SuffixSortReport& report) {
    SuffixBuckets<kPosBits> buckets(source_, settings_.n_threads);
    std::vector<Worker> workers;
    for (int i = 0; i < std::max(settings_.n_threads, 1); ++i)
      workers.emplace_back(source_, sa_.data());
    share_work(settings_.n_threads, buckets.n_buckets(), [&](std::size_t worker, std::size_t b) {
      if (!too_repetitive()) sort_bucket(buckets, b, workers[worker]);
    });
    std::uint64_t n_unresolved = 0;
    std::uint64_t n_costly = 0;
    for (const Worker& worker : workers) {
      n_unresolved += worker.refiner.n_unresolved();
      n_costly += costly(worker.refiner);
      const auto& left = worker.refiner.unresolved();
      groups_.insert(groups_.end(), left.begin(), left.end());
    }
    report.n_unresolved = n_unresolved;
    if (settings_.force_ranks) return true;
    return !too_repetitive() && static_cast<double>(n_costly) <=
                                    kMostUnresolved * static_cast<double>(source_.text.size());
  }

  // For each suffix that is left: together kWordsFurther for each of the text.
  std::uint64_t words_further() const {
    std::uint64_t n_left = 0;
    for (const SuffixGroup& group : groups_) n_left += group.size;
    return kWordsFurther * sa_.size() / std::max<std::uint64_t>(n_left, 1);
  }

  // Ranks take memory and time for every suffix of the text. A few that tie for long, as in two
  // gaps that bwa fills alike, cost less to compare on.
  void refine_further() {
    if (groups_.empty() || settings_.force_ranks) return;
    std::uint64_t n_words = words_further();
    if (n_words < kLeastWordsFurther && kChainsPairs) {
      groups_ = PairChains<Index>(source_, sa_.data(), settings_.n_threads).run(groups_);
      n_words = words_further();
    }
    if (groups_.empty() || n_words < kLeastWordsFurther) return;
    std::vector<Worker> workers;
    for (int i = 0; i < std::max(settings_.n_threads, 1); ++i)
      workers.emplace_back(source_, sa_.data());
    share_work(settings_.n_threads, groups_.size(), [&](std::size_t worker, std::size_t g) {
      workers[worker].refiner.refine(groups_[g],
                                     groups_[g].depth + n_words * source_.text.symbols_per_word());
    });
    groups_.clear();
    for (const Worker& worker : workers)
      groups_.insert(groups_.end(), worker.refiner.unresolved().begin(),
                     worker.refiner.unresolved().end());
  }

  // Suffixes left that call for ranks or induction. Pairs do not.
  static std::uint64_t costly(const TieRefiner<Index>& refiner) {
    return kChainsPairs ? refiner.n_in_crowds() : refiner.n_unresolved();
  }

  bool too_repetitive() const {
    const std::uint64_t n_sorted = n_sorted_.load(std::memory_order_relaxed);
    const std::uint64_t n_left = n_left_.load(std::memory_order_relaxed);
    return !settings_.force_ranks &&
           (n_sorted >= kLeastEvidence || n_sorted == source_.text.size()) &&
           static_cast<double>(n_left) > 2 * kMostUnresolved * static_cast<double>(n_sorted) &&
           static_cast<double>(n_left) > kMostUnresolved / 8 * static_cast<double>(sa_.size());
  }

  bool many_tie() const {
    const std::uint64_t n_sorted = n_sorted_.load(std::memory_order_relaxed);
    return n_sorted >= kLeastEvidence && n_tied_.load(std::memory_order_relaxed) > n_sorted / 4;
  }

  // Where many suffixes tie, comparing on mostly delays the decision.
  std::uint64_t max_depth(std::uint64_t key_depth) const {
    if (settings_.direct_symbols != 0) return settings_.direct_symbols;
    return key_depth + (many_tie() ? 2 : kDirectWords) * source_.text.symbols_per_word();
  }

  void sort_bucket(SuffixBuckets<kPosBits>& buckets, std::size_t b, Worker& worker) {
    const std::uint64_t begin = buckets.begin(b);
    const std::uint64_t n = buckets.end(b) - begin;
    if (n == 0) return;
    std::uint64_t* const words = buckets.words(b);
    if (worker.spare.size() < n) worker.spare.resize(n);
    sort_words(words, worker.spare.data(), n);
    Index* const sa = sa_.data() + begin;
    for (std::uint64_t i = 0; i < n; ++i) sa[i] = static_cast<Index>(Word::position(words[i]));
    const int key_bits = buckets.bucket_bits() + Word::kKeyBits;
    const auto key_depth = static_cast<std::uint64_t>(key_bits / source_.text.bits());
    const std::uint64_t limit = max_depth(key_depth);
    const bool leave_pairs = kChainsPairs && !settings_.force_ranks && many_tie();
    const std::uint64_t left_before = costly(worker.refiner);
    std::uint64_t n_tied = 0;
    for (std::uint64_t i = 0; i < n;) {
      std::uint64_t end = i + 1;
      while (end < n && Word::same_key(words[i], words[end])) ++end;
      if (end - i > 1) {
        n_tied += end - i;
        if (end - i == 2 && leave_pairs)
          worker.refiner.leave({begin + i, 2, key_depth});
        else
          worker.refiner.refine({begin + i, end - i, key_depth}, limit);
      }
      i = end;
    }
    n_sorted_ += n;
    n_tied_ += n_tied;
    n_left_ += costly(worker.refiner) - left_before;
  }

  void sort_by_induction() {
    groups_.clear();
    const std::uint64_t n = source_.text.size();
    const std::uint64_t n_symbols = std::uint64_t{1} << source_.text.bits();
    if (source_.ends.empty()) {
      const PackedSymbols symbols(source_.text);
      InducedSort<Index, PackedSymbols>(symbols, n_symbols, sa_.data(), settings_.n_threads).run();
      return;
    }
    // The ends become symbols of their own, the earlier the smaller.
    const std::uint64_t n_ends = source_.ends.size();
    BigArray<Index> symbols(n);
    for (std::uint64_t i = 0, k = 0; i < n; ++i) {
      const bool is_end = k < n_ends && source_.ends[k] == i;
      symbols[i] = static_cast<Index>(is_end ? k++ : n_ends + source_.text[i]);
    }
    const ArraySymbols<Index> with_ends(symbols.data(), n);
    InducedSort<Index, ArraySymbols<Index>>(with_ends, n_ends + n_symbols, sa_.data(),
                                            settings_.n_threads)
        .run();
  }

  const SuffixSource& source_;
  const SuffixSortSettings& settings_;
  BigArray<Index> sa_;
  std::vector<SuffixGroup> groups_;
  std::atomic<std::uint64_t> n_sorted_{0}, n_tied_{0}, n_left_{0};
};

}  // namespace

template <class Index>
BigArray<Index> sort_suffixes(const SuffixSource& source, const SuffixSortSettings& settings,
                              SuffixSortReport* report) {
  SuffixSortReport ours;
  return SuffixSorter<Index>(source, settings).run(report != nullptr ? *report : ours);
}

template BigArray<std::uint32_t> sort_suffixes(const SuffixSource&, const SuffixSortSettings&,
                                               SuffixSortReport*);
template BigArray<std::uint64_t> sort_suffixes(const SuffixSource&, const SuffixSortSettings&,
                                               SuffixSortReport*);

}  // namespace biogpu::bwt
