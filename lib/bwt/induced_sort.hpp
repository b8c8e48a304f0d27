#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/bwt/big_array.hpp"

namespace biogpu::bwt {

// Sorts all suffixes of text[0, n), symbols below n_symbols, by induction from those at the left
// ends of descents (LMS), in time and memory linear in n. One thread; the time depends little on
// the text.
//
// Source  Nong, Zhang, Chan: Two efficient algorithms for linear time suffix array construction.
//         doi:10.1109/TC.2010.188
template <class Index, class Symbol>
class InducedSort {
 public:
  InducedSort(const Symbol* text, std::uint64_t n, std::uint64_t n_symbols, Index* sa)
      : text_(text), n_(n), sa_(sa), smaller_(n), first_(n_symbols + 1), first_small_(n_symbols) {}

  void run() {
    if (n_ == 0) return;
    classify();
    std::vector<Index> lms;
    for (std::uint64_t i = 1; i < n_; ++i)
      if (is_lms(i)) lms.push_back(static_cast<Index>(i));
    induce(lms);
    if (lms.empty()) return;
    sort_lms(lms);
    induce(lms);
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  static constexpr std::uint64_t kAhead = 32;

  // smaller_[i]: suffix i is smaller than suffix i + 1. The empty suffix is the smallest.
  void classify() {
    smaller_[n_ - 1] = 0;
    for (std::uint64_t i = n_ - 1; i-- > 0;)
      smaller_[i] =
          text_[i] < text_[i + 1] || (text_[i] == text_[i + 1] && smaller_[i + 1] != 0) ? 1 : 0;
    std::vector<std::uint64_t> large(first_small_.size());
    std::vector<std::uint64_t> small(first_small_.size());
    for (std::uint64_t i = 0; i < n_; ++i) ++(smaller_[i] != 0 ? small : large)[text_[i]];
    std::uint64_t next = 0;
    for (std::size_t c = 0; c < first_small_.size(); ++c) {
      first_[c] = next;
      first_small_[c] = next + large[c];
      next += large[c] + small[c];
    }
    first_.back() = next;
  }

  bool is_lms(std::uint64_t i) const { return smaller_[i] != 0 && smaller_[i - 1] == 0; }

  void touch(std::uint64_t i) const {
    if (i >= n_ || sa_[i] == kNone || sa_[i] == 0) return;
    __builtin_prefetch(text_ + sa_[i] - 1);
    __builtin_prefetch(smaller_.data() + sa_[i] - 1);
  }

  // Fills sa_ from the LMS suffixes in the order given.
  void induce(const std::vector<Index>& lms) {
    std::fill_n(sa_, n_, kNone);
    std::vector<std::uint64_t> next = first_small_;
    for (const Index i : lms) sa_[next[text_[i]]++] = i;
    next.assign(first_.begin(), first_.end() - 1);
    sa_[next[text_[n_ - 1]]++] = static_cast<Index>(n_ - 1);
    for (std::uint64_t i = 0; i < n_; ++i) {
      touch(i + kAhead);
      const Index p = sa_[i];
      if (p != kNone && p != 0 && smaller_[p - 1] == 0)
        sa_[next[text_[p - 1]]++] = static_cast<Index>(p - 1);
    }
    next.assign(first_.begin() + 1, first_.end());
    for (std::uint64_t i = n_; i-- > 0;) {
      if (i >= kAhead) touch(i - kAhead);
      const Index p = sa_[i];
      if (p != kNone && p != 0 && smaller_[p - 1] != 0)
        sa_[--next[text_[p - 1]]] = static_cast<Index>(p - 1);
    }
  }

  // Where the LMS substring that begins at i ends: the next LMS position, or n.
  bool same_substring(std::uint64_t a, std::uint64_t a_end, std::uint64_t b,
                      std::uint64_t b_end) const {
    if (a_end - a != b_end - b || a_end == n_ || b_end == n_) return false;
    for (; a <= a_end; ++a, ++b)
      if (text_[a] != text_[b]) return false;
    return true;
  }

  // lms in the order of the text becomes lms in the order of its suffixes. sa_ holds the substrings
  // in order.
  void sort_lms(std::vector<Index>& lms) {
    const std::uint64_t m = lms.size();
    BigArray<Index> number(n_ / 2 + 1);  // LMS positions are never neighbours
    for (std::uint64_t k = 0; k < m; ++k) number[lms[k] / 2] = static_cast<Index>(k);
    BigArray<Index> name(m);
    std::uint64_t n_names = 0;
    std::uint64_t before = m;
    for (std::uint64_t i = 0; i < n_; ++i) {
      if (sa_[i] == 0 || !is_lms(sa_[i])) continue;
      const std::uint64_t k = number[sa_[i] / 2];
      const auto end = [&](std::uint64_t j) { return j + 1 < m ? lms[j + 1] : n_; };
      if (before == m || !same_substring(lms[before], end(before), lms[k], end(k))) ++n_names;
      name[k] = static_cast<Index>(n_names - 1);
      before = k;
    }
    number = BigArray<Index>();
    BigArray<Index> order(m);
    if (n_names == m) {
      for (std::uint64_t k = 0; k < m; ++k) order[name[k]] = static_cast<Index>(k);
    } else {
      InducedSort<Index, Index>(name.data(), m, n_names, order.data()).run();
    }
    std::vector<Index> sorted(m);
    for (std::uint64_t k = 0; k < m; ++k) sorted[k] = lms[order[k]];
    lms = std::move(sorted);
  }

  const Symbol* const text_;
  const std::uint64_t n_;
  Index* const sa_;
  BigArray<std::uint8_t> smaller_;
  std::vector<std::uint64_t> first_;        // where the bucket of each symbol begins
  std::vector<std::uint64_t> first_small_;  // and its part that smaller_ marks
};

}  // namespace biogpu::bwt
