#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lib/bwt/big_array.hpp"
#include "lib/bwt/packed_text.hpp"
#include "lib/bwt/share_work.hpp"

namespace biogpu::bwt {

// What InducedSort sees of a packed text.
class PackedSymbols {
 public:
  explicit PackedSymbols(const PackedText& text)
      : text_(text), shift_(64 - text.bits()), word_symbols_(text.symbols_per_word()) {}

  std::uint64_t size() const { return text_.size(); }
  std::uint64_t operator[](std::uint64_t i) const { return text_[i]; }
  // Symbols i and i + 1.
  std::pair<std::uint64_t, std::uint64_t> two(std::uint64_t i) const {
    const std::uint64_t word = text_.word_at(i);
    return {word >> shift_, word << text_.bits() >> shift_};
  }
  void prefetch(std::uint64_t i) const { text_.prefetch(i); }

  // The same for equal stretches.
  std::uint64_t digest(std::uint64_t i, std::uint64_t length) const {
    std::uint64_t value = length;
    for (; length > word_symbols_; length -= word_symbols_, i += word_symbols_)
      value = (value ^ symbols(i, word_symbols_)) * kMultiplier;
    return (value ^ symbols(i, length)) * kMultiplier;
  }
  bool equal(std::uint64_t a, std::uint64_t b, std::uint64_t length) const {
    for (; length > word_symbols_; length -= word_symbols_, a += word_symbols_, b += word_symbols_)
      if (symbols(a, word_symbols_) != symbols(b, word_symbols_)) return false;
    return symbols(a, length) == symbols(b, length);
  }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

  // 0 < length <= word_symbols_
  std::uint64_t symbols(std::uint64_t i, std::uint64_t length) const {
    return text_.word_at(i) >> (64 - length * static_cast<unsigned>(text_.bits()));
  }

  const PackedText& text_;
  const int shift_;
  const std::uint64_t word_symbols_;
};

// The same of an array.
template <class Index>
class ArraySymbols {
 public:
  ArraySymbols(const Index* text, std::uint64_t n) : text_(text), n_(n) {}

  std::uint64_t size() const { return n_; }
  std::uint64_t operator[](std::uint64_t i) const { return text_[i]; }
  std::pair<std::uint64_t, std::uint64_t> two(std::uint64_t i) const {
    return {text_[i], text_[i + 1]};
  }
  void prefetch(std::uint64_t i) const { __builtin_prefetch(text_ + i); }
  std::uint64_t digest(std::uint64_t i, std::uint64_t length) const {
    std::uint64_t value = length;
    for (; length > 0; --length, ++i) value = (value ^ text_[i]) * 0x9e3779b97f4a7c15;
    return value;
  }
  bool equal(std::uint64_t a, std::uint64_t b, std::uint64_t length) const {
    return std::equal(text_ + a, text_ + a + length, text_ + b);
  }

 private:
  const Index* const text_;
  const std::uint64_t n_;
};

// Sorts all suffixes of a text of symbols below n_symbols by induction from those at the left ends
// of descents (LMS), in time and memory linear in n. The time depends little on the text.
//
// A suffix is small where it is smaller than the next one; within the bucket of a symbol the small
// ones come last. What precedes a suffix in the text is judged by the two symbols alone, which lie
// side by side: no table of types is looked up at random. Where the stretches between LMS suffixes
// are of few kinds, as in a text that repeats itself, one scan of the text names them and their
// kinds are sorted by comparison: that spares the first of two inductions.
//
// Source  Nong, Zhang, Chan: Two efficient algorithms for linear time suffix array construction.
//         doi:10.1109/TC.2010.188
template <class Index, class Symbols>
class InducedSort {
 public:
  InducedSort(const Symbols& text, std::uint64_t n_symbols, Index* sa, int n_threads)
      : text_(text),
        n_(text.size()),
        sa_(sa),
        n_threads_(n_threads),
        first_(n_symbols + 1),
        first_small_(n_symbols) {}

  void run() {
    if (n_ == 0) return;
    classify();
    BigArray<Index> name(lms_.size());
    if (!lms_.empty()) {
      std::uint64_t n_names = name_kinds(name);
      if (n_names == 0) {
        induce(lms_);
        n_names = name_sorted(name);
      }
      sort_lms(name, n_names);
    }
    induce(lms_);
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  static constexpr std::uint64_t kAhead = 32;

  // Where the buckets begin, and the LMS suffixes in the order of the text. The empty suffix is the
  // smallest.
  void classify() {
    std::vector<std::uint64_t> large(first_small_.size());
    std::vector<std::uint64_t> small(first_small_.size());
    bool next_is_small = false;
    std::uint64_t next = text_[n_ - 1];
    ++large[next];
    for (std::uint64_t i = n_ - 1; i-- > 0;) {
      const std::uint64_t symbol = text_[i];
      const bool is_small = symbol < next || (symbol == next && next_is_small);
      if (next_is_small && !is_small) lms_.push_back(static_cast<Index>(i + 1));
      ++(is_small ? small : large)[symbol];
      next_is_small = is_small;
      next = symbol;
    }
    std::reverse(lms_.begin(), lms_.end());
    std::uint64_t row = 0;
    for (std::size_t c = 0; c < first_small_.size(); ++c) {
      first_[c] = row;
      first_small_[c] = row + large[c];
      row += large[c] + small[c];
      any_small_ = any_small_ || small[c] > 0;
    }
    first_.back() = row;
  }

  void touch(std::uint64_t i) const {
    if (i >= n_ || sa_[i] == kNone || sa_[i] == 0) return;
    text_.prefetch(sa_[i] - 1);
  }

  // Fills sa_ from the LMS suffixes in the order given.
  void induce(const std::vector<Index>& lms) {
    share_range(n_threads_, n_, [&](std::size_t, std::size_t begin, std::size_t end) {
      std::fill(sa_ + begin, sa_ + end, kNone);
    });
    std::vector<std::uint64_t> next = first_small_;
    for (const Index i : lms) sa_[next[text_[i]]++] = i;
    next.assign(first_.begin(), first_.end() - 1);
    sa_[next[text_[n_ - 1]]++] = static_cast<Index>(n_ - 1);
    for (std::uint64_t i = 0; i < n_; ++i) {
      touch(i + kAhead);
      const Index p = sa_[i];
      if (p == kNone || p == 0) continue;
      // What the scan has come to is large, or LMS with a greater symbol before it.
      const auto [before, symbol] = text_.two(p - 1);
      if (before >= symbol) sa_[next[before]++] = static_cast<Index>(p - 1);
    }
    if (!any_small_) return;
    next.assign(first_.begin() + 1, first_.end());
    for (std::uint64_t i = n_; i-- > 0;) {
      if (i >= kAhead) touch(i - kAhead);
      const Index p = sa_[i];
      if (p == kNone || p == 0) continue;
      const auto [before, symbol] = text_.two(p - 1);
      // Of equal symbols both are small, or none: small ones lie where this scan has put them.
      if (before < symbol || (before == symbol && i >= next[before]))
        sa_[--next[before]] = static_cast<Index>(p - 1);
    }
  }

  // The LMS substring k begins at lms_[k] and ends with the first symbol of the next; the last one
  // ends with the text.
  std::uint64_t length_of(std::uint64_t k) const {
    return k + 1 < lms_.size() ? lms_[k + 1] - lms_[k] + 1 : n_ - lms_[k];
  }

  bool same_substring(std::uint64_t a, std::uint64_t b) const {
    return a + 1 < lms_.size() && b + 1 < lms_.size() && length_of(a) == length_of(b) &&
           text_.equal(lms_[a], lms_[b], length_of(a));
  }

  // Of two that differ. Where one is the beginning of the other, the longer is the smaller: there
  // it goes down, while the shorter ends at its way up. That of the end of the text is smaller than
  // what it begins.
  bool is_less(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t length_a = length_of(a);
    const std::uint64_t length_b = length_of(b);
    for (std::uint64_t i = 0; i < std::min(length_a, length_b); ++i) {
      const std::uint64_t symbol_a = text_[lms_[a] + i];
      const std::uint64_t symbol_b = text_[lms_[b] + i];
      if (symbol_a != symbol_b) return symbol_a < symbol_b;
    }
    if (length_a < length_b) return a + 1 == lms_.size();
    return b + 1 != lms_.size();
  }

  // Names substrings in the order of the text; 0 where they are of many kinds.
  std::uint64_t name_kinds(BigArray<Index>& name) const {
    constexpr std::uint64_t kMostKinds = 1u << 12;
    constexpr std::uint64_t kSlots = 4 * kMostKinds;
    const std::uint64_t m = lms_.size();
    if (m < 2 * kMostKinds) return 0;
    std::vector<std::uint64_t> slot(kSlots);  // 1 + a kind
    std::vector<std::uint64_t> kinds;         // the first substring of each
    for (std::uint64_t k = 0; k < m; ++k) {
      std::uint64_t at = text_.digest(lms_[k], length_of(k)) >> 32;
      for (;; ++at) {
        std::uint64_t& kind = slot[at % kSlots];
        if (kind == 0) {
          if (kinds.size() == kMostKinds) return 0;
          kinds.push_back(k);
          kind = kinds.size();
        } else if (!same_substring(kinds[kind - 1], k)) {
          continue;
        }
        name[k] = static_cast<Index>(kind - 1);
        break;
      }
    }
    std::vector<std::uint64_t> order(kinds.size());
    for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint64_t a, std::uint64_t b) { return is_less(kinds[a], kinds[b]); });
    std::vector<Index> place(kinds.size());
    for (std::uint64_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
    for (std::uint64_t k = 0; k < m; ++k) name[k] = place[name[k]];
    return kinds.size();
  }

  // Names substrings by their order in sa_, which an induction from unsorted ones left.
  std::uint64_t name_sorted(BigArray<Index>& name) const {
    const std::uint64_t m = lms_.size();
    BigArray<Index> number(n_ / 2 + 1);  // LMS positions are never neighbours
    share_range(n_threads_, number.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
      std::fill(number.data() + begin, number.data() + end, kNone);
    });
    for (std::uint64_t k = 0; k < m; ++k) number[lms_[k] / 2] = static_cast<Index>(k);
    std::uint64_t n_names = 0;
    std::uint64_t before = m;
    for (std::size_t c = 0; c < first_small_.size(); ++c) {
      for (std::uint64_t i = first_small_[c]; i < first_[c + 1]; ++i) {
        const Index k = number[sa_[i] / 2];
        if (k == kNone || lms_[k] != sa_[i]) continue;
        if (before == m || !same_substring(before, k)) ++n_names;
        name[k] = static_cast<Index>(n_names - 1);
        before = k;
      }
    }
    return n_names;
  }

  // lms_ in the order of the text becomes lms_ in the order of its suffixes.
  void sort_lms(BigArray<Index>& name, std::uint64_t n_names) {
    const std::uint64_t m = lms_.size();
    BigArray<Index> order(m);
    if (n_names == m) {
      for (std::uint64_t k = 0; k < m; ++k) order[name[k]] = static_cast<Index>(k);
    } else {
      const ArraySymbols<Index> names(name.data(), m);
      InducedSort<Index, ArraySymbols<Index>>(names, n_names, order.data(), n_threads_).run();
    }
    std::vector<Index> sorted(m);
    for (std::uint64_t k = 0; k < m; ++k) sorted[k] = lms_[order[k]];
    lms_ = std::move(sorted);
  }

  const Symbols& text_;
  const std::uint64_t n_;
  Index* const sa_;
  const int n_threads_;
  bool any_small_ = false;
  std::vector<Index> lms_;
  std::vector<std::uint64_t> first_;        // where the bucket of each symbol begins
  std::vector<std::uint64_t> first_small_;  // and its small ones
};

}  // namespace biogpu::bwt
