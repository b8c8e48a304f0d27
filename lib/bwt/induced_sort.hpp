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
// A suffix is small where it is smaller than the next one; within the bucket of a symbol the small
// ones come last. What precedes a suffix in the text is judged by the two symbols alone, which lie
// side by side: no table of types is looked up at random.
//
// Source  Nong, Zhang, Chan: Two efficient algorithms for linear time suffix array construction.
//         doi:10.1109/TC.2010.188
template <class Index, class Symbol>
class InducedSort {
 public:
  InducedSort(const Symbol* text, std::uint64_t n, std::uint64_t n_symbols, Index* sa)
      : text_(text),
        n_(n),
        sa_(sa),
        is_lms_((n + 63) / 64),
        first_(n_symbols + 1),
        first_small_(n_symbols) {}

  void run() {
    if (n_ == 0) return;
    std::vector<Index> lms = classify();
    induce(lms);
    if (lms.empty()) return;
    sort_lms(lms);
    induce(lms);
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  static constexpr std::uint64_t kAhead = 32;

  // Where the buckets begin; returns the LMS suffixes in the order of the text. The empty suffix is
  // the smallest.
  std::vector<Index> classify() {
    std::fill_n(is_lms_.data(), is_lms_.size(), 0);
    std::vector<std::uint64_t> large(first_small_.size());
    std::vector<std::uint64_t> small(first_small_.size());
    std::vector<Index> lms;
    bool next_is_small = false;
    ++large[text_[n_ - 1]];
    for (std::uint64_t i = n_ - 1; i-- > 0;) {
      const bool is_small = text_[i] < text_[i + 1] || (text_[i] == text_[i + 1] && next_is_small);
      if (next_is_small && !is_small) {
        is_lms_[(i + 1) / 64] |= std::uint64_t{1} << (i + 1) % 64;
        lms.push_back(static_cast<Index>(i + 1));
      }
      ++(is_small ? small : large)[text_[i]];
      next_is_small = is_small;
    }
    std::reverse(lms.begin(), lms.end());
    std::uint64_t next = 0;
    for (std::size_t c = 0; c < first_small_.size(); ++c) {
      first_[c] = next;
      first_small_[c] = next + large[c];
      next += large[c] + small[c];
    }
    first_.back() = next;
    return lms;
  }

  bool is_lms(std::uint64_t i) const { return (is_lms_[i / 64] >> i % 64 & 1) != 0; }

  void touch(std::uint64_t i) const {
    if (i >= n_ || sa_[i] == kNone || sa_[i] == 0) return;
    __builtin_prefetch(text_ + sa_[i] - 1);
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
      if (p == kNone || p == 0) continue;
      // What the scan has come to is large, or LMS with a greater symbol before it.
      const Symbol before = text_[p - 1];
      if (before >= text_[p]) sa_[next[before]++] = static_cast<Index>(p - 1);
    }
    next.assign(first_.begin() + 1, first_.end());
    for (std::uint64_t i = n_; i-- > 0;) {
      if (i >= kAhead) touch(i - kAhead);
      const Index p = sa_[i];
      if (p == kNone || p == 0) continue;
      const Symbol before = text_[p - 1];
      // Of equal symbols both are small, or none: small ones lie where this scan has put them.
      if (before < text_[p] || (before == text_[p] && i >= next[before]))
        sa_[--next[before]] = static_cast<Index>(p - 1);
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
    const auto end = [&](std::uint64_t j) { return j + 1 < m ? lms[j + 1] : n_; };
    for (std::size_t c = 0; c < first_small_.size(); ++c) {
      for (std::uint64_t i = first_small_[c]; i < first_[c + 1]; ++i) {
        if (!is_lms(sa_[i])) continue;
        const std::uint64_t k = number[sa_[i] / 2];
        if (before == m || !same_substring(lms[before], end(before), lms[k], end(k))) ++n_names;
        name[k] = static_cast<Index>(n_names - 1);
        before = k;
      }
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
  BigArray<std::uint64_t> is_lms_;          // a bit each
  std::vector<std::uint64_t> first_;        // where the bucket of each symbol begins
  std::vector<std::uint64_t> first_small_;  // and its small ones
};

}  // namespace biogpu::bwt
