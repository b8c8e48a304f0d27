#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/lms_marks.hpp"
#include "lib/bwt/suffix/suffix_buckets.hpp"
#include "lib/bwt/suffix/tie_refiner.hpp"
#include "lib/bwt/suffix/tied_lms.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

// Sorts the LMS suffixes of a text, without the ends of strings, to the end of sa: by radix
// and by words of text as all suffixes of a random text are, then what ties by the order of the
// next LMS suffixes.
template <class Index>
class LmsSorter {
 public:
  // words: room for n_words().
  LmsSorter(const SuffixSource& source, const LmsMarks& lms, Index* sa, std::uint64_t* words,
            const SuffixSortSettings& settings)
      : source_(source),
        lms_(lms),
        n_lms_(Buckets::count_suffixes(source, &lms)),
        sa_(sa + source.text.size() - n_lms_),
        words_(words),
        settings_(settings) {}

  // For a text of n symbols, at most half of which are LMS.
  static std::uint64_t n_words(std::uint64_t n) {
    return TiedLms<Index>::n_keys(n) * sizeof(typename TiedLms<Index>::Key) / sizeof(std::uint64_t);
  }

  // False where that would take too many moves: the order is then unfinished.
  bool run(SuffixSortReport& report) {
    std::vector<Group> groups = sort_by_words();
    report.n_unresolved = 0;
    for (const Group& group : groups) report.n_unresolved += group.size;
    if (groups.empty()) return true;
    if (settings_.direct_symbols == 0) compare_further(groups, report.n_unresolved);
    if (groups.empty()) return true;
    TiedLms<Index> tied(source_, lms_, sa_, n_lms_,
                        reinterpret_cast<typename TiedLms<Index>::Key*>(words_),
                        settings_.n_threads);
    return tied.sort(std::move(groups), settings_.max_lms_moves != 0
                                            ? settings_.max_lms_moves
                                            : kMovesPerSymbol * source_.text.size());
  }

 private:
  using Group = typename TiedLms<Index>::Group;
  using Buckets = SuffixBuckets<sizeof(Index) == 4 ? 32 : 40>;
  // Symbols that ties are compared over at least before the next LMS suffixes decide.
  static constexpr std::uint64_t kTieSymbols = 32;
  // A few long ties are compared over so many words for each symbol of the text.
  static constexpr std::uint64_t kWordsFurther = 1;
  static constexpr std::uint64_t kMinWordsFurther = 64;

  static constexpr std::uint64_t kMovesPerSymbol = 1;

  struct Worker {
    Worker(const SuffixSource& source, Index* sa) : refiner(source, sa, ~std::uint64_t{0}) {}
    TieRefiner<Index> refiner;
    std::vector<std::uint64_t> spare;
    std::vector<Group> groups;  // that the next LMS suffixes can sort
  };

  std::vector<Worker> make_workers() const {
    std::vector<Worker> workers;
    for (int i = 0; i < std::max(settings_.n_threads, 1); ++i) workers.emplace_back(source_, sa_);
    return workers;
  }

  std::vector<Group> sort_by_words() {
    Buckets buckets(source_, words_, settings_.n_threads, &lms_);
    const std::uint64_t key_depth = buckets.key_symbols();
    const std::uint64_t limit =
        settings_.direct_symbols != 0 ? settings_.direct_symbols : kTieSymbols;
    std::vector<Worker> workers = make_workers();
    run_on_threads(settings_.n_threads, buckets.n_buckets(),
                   [&](std::size_t worker, std::size_t b) {
                     if (buckets.begin(b) == buckets.end(b)) return;
                     buckets.sort(b, workers[worker].spare, sa_);
                     buckets.for_each_tie(b, [&](std::uint64_t row, std::uint64_t size) {
                       refine({row, size, key_depth}, limit, workers[worker]);
                     });
                   });
    return join_groups(workers);
  }

  static std::vector<Group> join_groups(std::vector<Worker>& workers) {
    std::vector<Group> groups = std::move(workers[0].groups);
    for (std::size_t w = 1; w < workers.size(); ++w) {
      groups.insert(groups.end(), workers[w].groups.begin(), workers[w].groups.end());
      workers[w].groups = {};
    }
    return groups;
  }

  // Leaves groups whose compared symbols reach behind the next LMS suffix of each member. It is
  // then equally far for all of them.
  void refine(const SuffixGroup& group, std::uint64_t max_depth, Worker& worker) {
    worker.refiner.refine(group, max_depth);
    while (!worker.refiner.unresolved().empty()) {
      for (const SuffixGroup& left : worker.refiner.take_unresolved()) {
        const std::uint64_t span = max_span(left);
        if (span < left.depth) {
          worker.groups.push_back({static_cast<Index>(left.begin), static_cast<Index>(left.size)});
        } else {
          worker.refiner.refine(left, span + 1);
        }
      }
    }
  }

  // The largest distance from a member to the next LMS suffix.
  std::uint64_t max_span(const SuffixGroup& group) const {
    std::uint64_t span = 0;
    for (std::uint64_t i = group.begin; i < group.begin + group.size; ++i)
      span = std::max<std::uint64_t>(span, lms_.next(std::uint64_t{sa_[i]} + 1) - sa_[i]);
    return span;
  }

  // Spares the arrays of the next step where few tie.
  void compare_further(std::vector<Group>& groups, std::uint64_t n_tied) {
    const std::uint64_t n_words = kWordsFurther * source_.text.size() / n_tied;
    if (n_words < kMinWordsFurther) return;
    std::vector<Worker> workers = make_workers();
    run_on_threads(settings_.n_threads, groups.size(), [&](std::size_t worker, std::size_t g) {
      refine({groups[g].begin, groups[g].size, 0}, n_words * source_.text.symbols_per_word(),
             workers[worker]);
    });
    groups = join_groups(workers);
  }

  const SuffixSource& source_;
  const LmsMarks& lms_;
  const std::uint64_t n_lms_;
  Index* const sa_;  // LMS suffixes alone
  std::uint64_t* const words_;
  const SuffixSortSettings& settings_;
};

}  // namespace biogpu::bwt
