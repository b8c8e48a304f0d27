#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/bwt/suffix/lms_marks.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

// Sorts groups of LMS suffixes that are equal up to the next LMS suffix of each and as far from it:
// they compare as these do. One scan of the text from its end inserts each suffix into the order
// of its group. The next LMS suffix has its rank then, or its label among the suffixes of its
// own group that have been inserted.
//
// The number of labels moved is limited: texts that tie in large groups, as tandem repeats do,
// are sorted otherwise. Of these suffixes inserted at an end of their group cost nothing.
//
// Memory: two indices for every second symbol of the text, which are given.
template <class Index>
class TiedLms {
 public:
  // Orders LMS suffixes: the rank, or a group and a label that orders the suffixes in it.
  struct Key {
    Index rank;
    Index label;
  };
  // [begin, begin + size) of the LMS suffixes in their order; of those already inserted, size.
  struct Group {
    Index begin;
    Index size;
  };
  // For a text of n symbols. LMS suffixes are never neighbours.
  static std::uint64_t n_keys(std::uint64_t n) { return n / 2 + 1; }

  // sa: the LMS suffixes, sorted as far as the groups tell. keys has room for n_keys().
  TiedLms(const SuffixSource& source, const LmsMarks& lms, Index* sa, std::uint64_t n_lms,
          Key* keys, int n_threads)
      : source_(source), lms_(lms), sa_(sa), n_lms_(n_lms), n_threads_(n_threads), keys_(keys) {}

  // False when it took more than max_moves: the groups are then unsorted.
  bool sort(std::vector<Group> groups, std::uint64_t max_moves) {
    groups_ = std::move(groups);
    set_ranks();
    LmsMarks::Backward scan(lms_), near(lms_), far(lms_);
    skip(near, kNear);
    skip(far, kFar);
    n_moves_ = 0;
    for (std::uint64_t position = 0; scan.next(position);) {
      prefetch(near, far);
      if (is_tied(key(position))) insert(static_cast<Index>(position));
      if (n_moves_ > max_moves) return false;
    }
    return true;
  }

 private:
  static constexpr Index kTied = Index{1} << (std::numeric_limits<Index>::digits - 1);
  static constexpr Index kMaxLabel = std::numeric_limits<Index>::max();
  static constexpr Index kLabelStep = kMaxLabel >> 12;
  static constexpr int kNear = 16;
  static constexpr int kFar = 32;

  static bool is_tied(const Key& key) { return (key.rank & kTied) != 0; }
  Key& key(std::uint64_t position) { return keys_[position / 2]; }
  Group& group_of(const Key& key) { return groups_[key.rank & ~kTied]; }
  std::uint64_t first_rank(const Key& key) { return is_tied(key) ? group_of(key).begin : key.rank; }
  const Key& next_key(Index position) { return key(lms_.next(std::uint64_t{position} + 1)); }

  void set_ranks() {
    // Suffixes of one word of the text are not near each other here: no two threads share lines.
    run_ranges_on_threads(n_threads_, n_lms_,
                          [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
                            for (std::uint64_t i = begin; i < end; ++i)
                              key(sa_[i]) = {static_cast<Index>(i), 0};
                          });
    // The scan comes to the ends of strings too, which are not in sa.
    for (const std::uint64_t end : source_.ends) key(end) = {0, 0};
    run_ranges_on_threads(n_threads_, groups_.size(),
                          [&](std::size_t, std::uint64_t g, std::uint64_t end) {
                            for (; g < end; ++g) {
                              Group& group = groups_[g];
                              for (Index i = 0; i < group.size; ++i)
                                key(sa_[group.begin + i]).rank = static_cast<Index>(g) | kTied;
                              group.size = 0;
                            }
                          });
  }

  static void skip(LmsMarks::Backward& marks, int n) {
    std::uint64_t position = 0;
    for (int i = 0; i < n && marks.next(position); ++i) {
    }
  }

  void prefetch(LmsMarks::Backward& near, LmsMarks::Backward& far) {
    std::uint64_t position = 0;
    if (far.next(position)) {
      const Key& tied = key(position);
      if (is_tied(tied)) __builtin_prefetch(&group_of(tied));
    }
    if (near.next(position)) {
      const Key& tied = key(position);
      if (is_tied(tied)) __builtin_prefetch(sa_ + group_of(tied).begin);
    }
  }

  bool is_less(const Key& a, const Key& b) {
    if (a.rank == b.rank) return a.label < b.label;
    return first_rank(a) < first_rank(b);
  }

  void insert(Index position) {
    Group& group = group_of(key(position));
    Index* const begin = sa_ + group.begin;
    const std::uint64_t n = group.size++;
    const Key& next = next_key(position);
    // In periodic texts all suffixes of a group are inserted at the same end.
    std::uint64_t at = n;
    if (n > 0 && is_less(next, next_key(begin[n - 1]))) {
      at = 0;
      if (is_less(next_key(begin[0]), next)) {
        const Index* const found = std::partition_point(
            begin + 1, begin + n - 1, [&](Index other) { return is_less(next_key(other), next); });
        at = static_cast<std::uint64_t>(found - begin);
      }
    }
    std::copy_backward(begin + at, begin + n, begin + n + 1);
    begin[at] = position;
    n_moves_ += (n - at) / 16;
    set_label(begin, at, n + 1);
  }

  // Of member `at` of the n that a group has so far.
  void set_label(const Index* begin, std::uint64_t at, std::uint64_t n) {
    const Index below = at > 0 ? key(begin[at - 1]).label : 0;
    const Index above = at + 1 < n ? key(begin[at + 1]).label : kMaxLabel;
    Index& label = key(begin[at]).label;
    Index step = static_cast<Index>((above - below) / 2);
    if (at + 1 == n && n > 1) step = std::min(step, kLabelStep);
    label = static_cast<Index>(below + step);
    if (at == 0 && n > 1) label = static_cast<Index>(above - std::min(step, kLabelStep));
    if (step > 0) return;
    const Index even = static_cast<Index>(kMaxLabel / (n + 1));
    for (std::uint64_t i = 0; i < n; ++i) key(begin[i]).label = static_cast<Index>((i + 1) * even);
    n_moves_ += n;
  }

  const SuffixSource& source_;
  const LmsMarks& lms_;
  Index* const sa_;
  const std::uint64_t n_lms_;
  const int n_threads_;
  Key* const keys_;  // by position / 2
  std::vector<Group> groups_;
  std::uint64_t n_moves_ = 0;
};

}  // namespace biogpu::bwt
