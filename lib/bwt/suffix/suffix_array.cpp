#include "lib/bwt/suffix/suffix_array.hpp"

#include <atomic>

#include "lib/bwt/suffix/carried_induction.hpp"
#include "lib/bwt/suffix/gpu_sort.hpp"
#include "lib/bwt/suffix/induced_sort.hpp"
#include "lib/bwt/suffix/lms_sorter.hpp"
#include "lib/bwt/suffix/pair_chains.hpp"
#include "lib/bwt/suffix/prefix_doubling.hpp"
#include "lib/bwt/suffix/suffix_buckets.hpp"
#include "lib/bwt/suffix/tie_refiner.hpp"
#include "lib/bwt/suffix/word_sort.hpp"
#include "lib/core/error.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {
namespace {

// Words that equal suffixes are compared over before their ranks decide.
constexpr std::uint64_t kDirectWords = 16;
// Shares of the text. Above the first, comparing further costs more than induction; so do rounds of
// doubling that add up to the second.
constexpr double kMaxUnresolved = 0.25;
constexpr double kMaxRankWork = 2;
// Words for each symbol of the text that a few long ties may be compared over, and fewer words for
// each tie than are worth it.
constexpr std::uint64_t kWordsFurther = 8;
constexpr std::uint64_t kMinWordsFurther = 512;
// With so many threads, sorting all suffixes of a text is faster than the two scans of an
// induction, which one thread does, unless more than this share of the text repeats itself. Above
// the other share it consists of few substrings.
constexpr int kMinThreadsDirect = 8;
constexpr double kMaxEqualDirect = 1.0 / 64;
constexpr double kMaxEqualInduced = 0.5;
// Suffixes that tell whether the text repeats itself.
constexpr std::uint64_t kDrawn = 1u << 12;
// Before so many suffixes are sorted, nothing is known of the text.
constexpr std::uint64_t kMinEvidence = 1u << 16;

template <class Index>
class SuffixSorter {
 public:
  static constexpr int kPosBits = sizeof(Index) == 4 ? 32 : 40;
  // Above 2^32 symbols their memory would be too much.
  static constexpr bool kChainsPairs = sizeof(Index) == 4;

  SuffixSorter(const SuffixSource& source, const SuffixSortSettings& settings)
      : source_(source), settings_(settings), sa_(source.text.size()) {}

  BigArray<Index> run(SuffixSortReport& report) {
    if (sa_.size() == 0) return std::move(sa_);
    const bool on_gpu = settings_.gpu >= 0 && sort_on_gpu(report);
    SuffixMethod method = on_gpu ? SuffixMethod::direct : choose_method();
    if (is_direct(method)) {
      if ((on_gpu || sort_directly(report)) && finish_groups(report)) {
        report.method = method;
        return std::move(sa_);
      }
      groups_.clear();
      method = SuffixMethod::induced;
    }
    report.method = sort_by_induction(method, report);
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

  static bool is_direct(SuffixMethod method) {
    return method == SuffixMethod::direct || method == SuffixMethod::ranks;
  }

  SuffixMethod choose_method() const {
    if (settings_.method != SuffixMethod::automatic) return settings_.method;
    const double equal = share_of_equal_words();
    if (equal > kMaxEqualInduced) return SuffixMethod::induced;
    if (equal > kMaxEqualDirect) return SuffixMethod::lms;
    return settings_.n_threads < kMinThreadsDirect ? SuffixMethod::lms : SuffixMethod::direct;
  }

  // Of a few suffixes drawn from the whole text, the share that has two words in common with
  // another of them. More than half in one letter, short periods, Fibonacci words.
  double share_of_equal_words() const {
    const std::uint64_t n = source_.text.size();
    const std::uint64_t word = source_.text.symbols_per_word();
    if (n < kMinEvidence) return 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> drawn;
    for (std::uint64_t k = 0; k < kDrawn; ++k) {
      const std::uint64_t i = k * (n - 2 * word) / kDrawn + k % word;
      drawn.emplace_back(source_.text.word_at(i), source_.text.word_at(i + word));
    }
    std::sort(drawn.begin(), drawn.end());
    std::uint64_t n_equal = 0;
    for (std::size_t k = 1; k < drawn.size(); ++k) n_equal += drawn[k] == drawn[k - 1] ? 1 : 0;
    return static_cast<double>(n_equal) / kDrawn;
  }

  // False where too much of the text repeats itself: the order is then unfinished.
  bool sort_directly(SuffixSortReport& report) {
    BigArray<std::uint64_t> words(sa_.size());
    SuffixBuckets<kPosBits> buckets(source_, words.data(), settings_.n_threads);
    std::vector<Worker> workers;
    for (int i = 0; i < std::max(settings_.n_threads, 1); ++i)
      workers.emplace_back(source_, sa_.data());
    run_on_threads(settings_.n_threads, buckets.n_buckets(),
                   [&](std::size_t worker, std::size_t b) {
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
    if (all_by_ranks()) return true;
    return !too_repetitive() && static_cast<double>(n_costly) <=
                                    kMaxUnresolved * static_cast<double>(source_.text.size());
  }

  // For each suffix that is left: together kWordsFurther for each of the text.
  std::uint64_t words_further() const {
    std::uint64_t n_left = 0;
    for (const SuffixGroup& group : groups_) n_left += group.size;
    return kWordsFurther * sa_.size() / std::max<std::uint64_t>(n_left, 1);
  }

  // What direct comparison or the GPU left. False where it is too much.
  bool finish_groups(SuffixSortReport& report) {
    refine_further();
    if (groups_.empty()) return true;
    RankDoubling<Index> doubling(sa_.data(), sa_.size(), settings_.n_threads);
    const auto max_work =
        static_cast<std::uint64_t>(kMaxRankWork * static_cast<double>(sa_.size()));
    const bool sorted =
        doubling.run(std::move(groups_), all_by_ranks() ? ~std::uint64_t{0} : max_work);
    report.n_rank_rounds += doubling.n_rounds();
    return sorted;
  }

  // Ranks take memory and time for every suffix of the text. A few that tie for long, as in two
  // gaps that bwa fills alike, cost less to compare on.
  void refine_further() {
    if (groups_.empty() || all_by_ranks()) return;
    std::uint64_t n_words = words_further();
    if (n_words < kMinWordsFurther && kChainsPairs) {
      groups_ = PairChains<Index>(source_, sa_.data(), settings_.n_threads).run(groups_);
      n_words = words_further();
    }
    if (groups_.empty() || n_words < kMinWordsFurther) return;
    std::vector<Worker> workers;
    for (int i = 0; i < std::max(settings_.n_threads, 1); ++i)
      workers.emplace_back(source_, sa_.data());
    run_on_threads(settings_.n_threads, groups_.size(), [&](std::size_t worker, std::size_t g) {
      workers[worker].refiner.refine(groups_[g],
                                     groups_[g].depth + n_words * source_.text.symbols_per_word());
    });
    groups_.clear();
    for (const Worker& worker : workers)
      groups_.insert(groups_.end(), worker.refiner.unresolved().begin(),
                     worker.refiner.unresolved().end());
  }

  bool all_by_ranks() const { return settings_.method == SuffixMethod::ranks; }

  // Suffixes left that call for ranks or induction. Pairs do not.
  static std::uint64_t costly(const TieRefiner<Index>& refiner) {
    return kChainsPairs ? refiner.n_in_crowds() : refiner.n_unresolved();
  }

  bool too_repetitive() const {
    const std::uint64_t n_sorted = n_sorted_.load(std::memory_order_relaxed);
    const std::uint64_t n_left = n_left_.load(std::memory_order_relaxed);
    return !all_by_ranks() && (n_sorted >= kMinEvidence || n_sorted == source_.text.size()) &&
           static_cast<double>(n_left) > 2 * kMaxUnresolved * static_cast<double>(n_sorted) &&
           static_cast<double>(n_left) > kMaxUnresolved / 8 * static_cast<double>(sa_.size());
  }

  bool many_tie() const {
    const std::uint64_t n_sorted = n_sorted_.load(std::memory_order_relaxed);
    return n_sorted >= kMinEvidence && n_tied_.load(std::memory_order_relaxed) > n_sorted / 4;
  }

  // Where many suffixes tie, comparing on mostly delays the decision.
  std::uint64_t max_depth(std::uint64_t key_depth) const {
    if (settings_.direct_symbols != 0) return settings_.direct_symbols;
    return key_depth + (many_tie() ? 2 : kDirectWords) * source_.text.symbols_per_word();
  }

  void sort_bucket(SuffixBuckets<kPosBits>& buckets, std::size_t b, Worker& worker) {
    const std::uint64_t n = buckets.end(b) - buckets.begin(b);
    if (n == 0) return;
    buckets.sort(b, worker.spare, sa_.data());
    const std::uint64_t key_depth = buckets.key_symbols();
    const std::uint64_t limit = max_depth(key_depth);
    const bool leave_pairs = kChainsPairs && !all_by_ranks() && many_tie();
    const std::uint64_t left_before = costly(worker.refiner);
    std::uint64_t n_tied = 0;
    buckets.for_each_tie(b, [&](std::uint64_t row, std::uint64_t size) {
      n_tied += size;
      if (size == 2 && leave_pairs)
        worker.refiner.leave({row, 2, key_depth});
      else
        worker.refiner.refine({row, size, key_depth}, limit);
    });
    n_sorted_ += n;
    n_tied_ += n_tied;
    n_left_ += costly(worker.refiner) - left_before;
  }

  // Returns the method that came to the result.
  SuffixMethod sort_by_induction(SuffixMethod method, SuffixSortReport& report) {
    const LmsMarks lms(source_, settings_.n_threads);
    // One array for all steps: new memory costs more than what they do with it.
    const std::uint64_t n_words = CarriedInduction<Index>::n_words(source_, lms);
    BigArray<std::uint64_t> words;
    if (method == SuffixMethod::lms) {
      words = BigArray<std::uint64_t>(std::max(n_words, LmsSorter<Index>::n_words(sa_.size())));
      if (!LmsSorter<Index>(source_, lms, sa_.data(), words.data(), settings_).run(report))
        method = SuffixMethod::induced;
    }
    if (method == SuffixMethod::induced) {
      words = {};
      if (!source_.ends.empty()) {
        induce_set();
        return method;
      }
      const PackedSymbols symbols(source_.text);
      InducedSort<Index, PackedSymbols>(symbols, lms.n_symbols(), sa_.data(), settings_.n_threads)
          .sort_lms(lms);
      words = BigArray<std::uint64_t>(n_words);
    }
    CarriedInduction<Index>(source_, lms, sa_.data(), words.data(), settings_.n_threads).run();
    return method;
  }

  // The ends become symbols of their own, the earlier the smaller.
  void induce_set() {
    const std::uint64_t n = source_.text.size();
    const std::uint64_t n_symbols = std::uint64_t{1} << source_.text.bits();
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
