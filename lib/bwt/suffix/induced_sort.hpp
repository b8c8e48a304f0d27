#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "lib/bwt/suffix/lms_marks.hpp"
#include "lib/bwt/text/packed_text.hpp"
#include "lib/core/big_array.hpp"
#include "lib/core/run_on_threads.hpp"

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
        n_lms_in_(n_symbols),
        first_(n_symbols + 1),
        first_small_(n_symbols) {}

  void run() {
    if (n_ == 0) return;
    classify();
    if (!sort_kinds()) sort_names();
    spread_lms();
    induce();
  }

  // The LMS suffixes alone, to the end of sa.
  void sort_lms(const LmsMarks& lms) {
    take_classes(lms);
    if (!sort_kinds()) sort_names();
    std::copy_backward(sa_, sa_ + n_lms_, sa_ + n_);
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  static constexpr std::uint64_t kAhead = 32;

  // Where the buckets begin, and the LMS suffixes in the order of the text, at the end of sa_: they
  // are half of all at most. The empty suffix is the smallest.
  void classify() {
    std::vector<std::uint64_t> large(n_lms_in_.size());
    std::vector<std::uint64_t> small(n_lms_in_.size());
    bool next_is_small = false;
    std::uint64_t next = text_[n_ - 1];
    ++large[next];
    for (std::uint64_t i = n_ - 1; i-- > 0;) {
      const std::uint64_t symbol = text_[i];
      const bool is_small = symbol < next || (symbol == next && next_is_small);
      if (next_is_small && !is_small) {
        sa_[n_ - ++n_lms_] = static_cast<Index>(i + 1);
        ++n_lms_in_[next];
      }
      ++(is_small ? small : large)[symbol];
      next_is_small = is_small;
      next = symbol;
    }
    lms_ = sa_ + n_ - n_lms_;
    lay_out([&](std::size_t c) { return large[c]; }, [&](std::size_t c) { return small[c]; });
  }

  // The same of what is known.
  void take_classes(const LmsMarks& lms) {
    for (std::size_t c = 0; c < n_lms_in_.size(); ++c) n_lms_ += n_lms_in_[c] = lms.n_lms(c);
    Index* at = sa_ + n_ - n_lms_;
    lms_ = at;
    lms.for_each(0, n_, [&](std::uint64_t i) { *at++ = static_cast<Index>(i); });
    lay_out([&](std::size_t c) { return lms.n_large(c); },
            [&](std::size_t c) { return lms.n_small(c); });
  }

  template <class Large, class Small>
  void lay_out(const Large& n_large, const Small& n_small) {
    std::uint64_t row = 0;
    for (std::size_t c = 0; c < n_lms_in_.size(); ++c) {
      first_[c] = row;
      first_small_[c] = row + n_large(c);
      row += n_large(c) + n_small(c);
      any_small_ = any_small_ || n_small(c) > 0;
    }
    first_.back() = row;
  }

  void clear_rows(std::uint64_t first) {
    run_ranges_on_threads(n_threads_, n_ - first,
                          [&](std::size_t, std::size_t begin, std::size_t end) {
                            std::fill(sa_ + first + begin, sa_ + first + end, kNone);
                          });
  }

  // The sorted LMS suffixes go from the beginning of sa_ to their buckets, the last one first: none
  // has to go down.
  void spread_lms() {
    clear_rows(n_lms_);
    std::vector<std::uint64_t> next = first_small_;
    for (std::size_t c = 0; c < next.size(); ++c) next[c] += n_lms_in_[c];
    for (std::uint64_t k = n_lms_; k-- > 0;) {
      if (k >= kAhead) text_.prefetch(sa_[k - kAhead]);
      const Index position = std::exchange(sa_[k], kNone);
      sa_[--next[text_[position]]] = position;
    }
  }

  void touch(std::uint64_t i) const {
    if (i >= n_ || sa_[i] == kNone || sa_[i] == 0) return;
    text_.prefetch(sa_[i] - 1);
  }

  // Fills sa_ from the LMS suffixes, each of which lies in its bucket.
  void induce() {
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
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
    return k + 1 < n_lms_ ? lms_[k + 1] - lms_[k] + 1 : n_ - lms_[k];
  }

  bool same_substring(std::uint64_t a, std::uint64_t b) const {
    return a + 1 < n_lms_ && b + 1 < n_lms_ && length_of(a) == length_of(b) &&
           text_.equal(lms_[a], lms_[b], length_of(a));
  }

  // Where one is the beginning of the other, the longer is the smaller: there
  // it goes down, while the shorter ends at its way up. That of the end of the text is smaller than
  // what it begins.
  bool is_less(std::uint64_t a, std::uint64_t b) const {
    if (a == b) return false;
    const std::uint64_t length_a = length_of(a);
    const std::uint64_t length_b = length_of(b);
    for (std::uint64_t i = 0; i < std::min(length_a, length_b); ++i) {
      const std::uint64_t symbol_a = text_[lms_[a] + i];
      const std::uint64_t symbol_b = text_[lms_[b] + i];
      if (symbol_a != symbol_b) return symbol_a < symbol_b;
    }
    if (length_a < length_b) return a + 1 == n_lms_;
    return b + 1 != n_lms_;
  }

  // Sorts the LMS suffixes to the beginning of sa_; false where their substrings are of many kinds.
  // The kinds in the order of the text lie there meanwhile.
  bool sort_kinds() {
    const std::vector<std::uint64_t> kinds = find_kinds();
    if (kinds.empty()) return n_lms_ == 0;
    std::vector<std::uint64_t> order(kinds.size());
    for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint64_t a, std::uint64_t b) { return is_less(kinds[a], kinds[b]); });
    std::vector<unsigned> name(kinds.size());
    for (std::uint64_t i = 0; i < order.size(); ++i) name[order[i]] = static_cast<unsigned>(i);
    const auto bits = static_cast<int>(std::bit_width(std::max<std::size_t>(kinds.size() - 1, 1)));
    PackedText names(n_lms_, bits);
    for (std::uint64_t k = 0; k < n_lms_; ++k) names.set(k, name[sa_[k]]);
    sort_reduced(PackedSymbols(names), kinds.size());
    return true;
  }

  // The first substring of each kind, whose numbers go to sa_; none where they are many.
  std::vector<std::uint64_t> find_kinds() {
    constexpr std::uint64_t kMaxKinds = 1u << 12;
    constexpr std::uint64_t kSlots = 4 * kMaxKinds;
    std::vector<std::uint64_t> kinds;
    if (n_lms_ < 2 * kMaxKinds) return kinds;
    std::vector<std::uint64_t> slot(kSlots);  // 1 + a kind
    for (std::uint64_t k = 0; k < n_lms_; ++k) {
      std::uint64_t at = (text_.digest(lms_[k], length_of(k)) >> 32) % kSlots;
      while (slot[at] != 0 && !same_substring(kinds[slot[at] - 1], k)) at = (at + 1) % kSlots;
      if (slot[at] == 0) {
        if (kinds.size() == kMaxKinds) return {};
        kinds.push_back(k);
        slot[at] = kinds.size();
      }
      sa_[k] = static_cast<Index>(slot[at] - 1);
    }
    return kinds;
  }

  // The same by an induction from unsorted LMS suffixes.
  void sort_names() {
    const std::vector<Index> lms(lms_, lms_ + n_lms_);
    lms_ = lms.data();
    clear_rows(0);
    std::vector<std::uint64_t> next = first_small_;
    for (const Index position : lms) sa_[next[text_[position]]++] = position;
    induce();
    BigArray<Index> names(n_lms_);
    const std::uint64_t n_names = name_sorted(names);
    std::copy(lms.begin(), lms.end(), sa_ + n_ - n_lms_);
    lms_ = sa_ + n_ - n_lms_;
    sort_reduced(ArraySymbols<Index>(names.data(), n_lms_), n_names);
  }

  // Names substrings by their order in sa_; returns their number.
  std::uint64_t name_sorted(BigArray<Index>& names) const {
    BigArray<Index> number(n_ / 2 + 1);  // LMS positions are never neighbours
    run_ranges_on_threads(n_threads_, number.size(),
                          [&](std::size_t, std::size_t begin, std::size_t end) {
                            std::fill(number.data() + begin, number.data() + end, kNone);
                          });
    for (std::uint64_t k = 0; k < n_lms_; ++k) number[lms_[k] / 2] = static_cast<Index>(k);
    std::uint64_t n_names = 0;
    std::uint64_t before = n_lms_;
    for (std::size_t c = 0; c < first_small_.size(); ++c) {
      for (std::uint64_t i = first_small_[c]; i < first_[c + 1]; ++i) {
        const Index k = number[sa_[i] / 2];
        if (k == kNone || lms_[k] != sa_[i]) continue;
        if (before == n_lms_ || !same_substring(before, k)) ++n_names;
        names[k] = static_cast<Index>(n_names - 1);
        before = k;
      }
    }
    return n_names;
  }

  // Sorts the text of names, and with it the LMS suffixes, to the beginning of sa_.
  template <class Names>
  void sort_reduced(const Names& names, std::uint64_t n_names) {
    if (n_names == n_lms_) {
      for (std::uint64_t k = 0; k < n_lms_; ++k) sa_[names[k]] = static_cast<Index>(k);
    } else {
      InducedSort<Index, Names>(names, n_names, sa_, n_threads_).run();
    }
    for (std::uint64_t k = 0; k < n_lms_; ++k) sa_[k] = lms_[sa_[k]];
  }

  const Symbols& text_;
  const std::uint64_t n_;
  Index* const sa_;
  const int n_threads_;
  bool any_small_ = false;
  std::uint64_t n_lms_ = 0;
  const Index* lms_ = nullptr;              // in the order of the text
  std::vector<std::uint64_t> n_lms_in_;     // the bucket of each symbol
  std::vector<std::uint64_t> first_;        // where the bucket of each symbol begins
  std::vector<std::uint64_t> first_small_;  // and its small ones
};

}  // namespace biogpu::bwt
