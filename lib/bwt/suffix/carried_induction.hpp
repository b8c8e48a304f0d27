#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/lms_marks.hpp"
#include "lib/bwt/suffix/share_work.hpp"

namespace biogpu::bwt {

// Orders all suffixes of a text from its sorted LMS suffixes, by induction in two scans (large
// suffixes ascending, then small ones descending). Where an induced sort looks up the text before
// each suffix at random, here an entry of a scan carries the symbols before its position: 15 bases
// with a position of 32 bits. So the text is read at random for the LMS suffixes, by all threads,
// and once in 15 inductions; all else reads and writes in sequence.
//
// A scan takes from each bucket's queue, which lies where the bucket's suffixes belong, and appends
// to the queue of the symbol before. Large suffixes with a smaller symbol before them are kept at
// the beginning of their bucket: with them begins the second scan.
//
// Memory: 8 bytes for each symbol of the text, which are given.
template <class Index>
class CarriedInduction {
 public:
  static constexpr int kPosBits = sizeof(Index) == 4 ? 32 : 40;

  // entries has room for one of each suffix.
  CarriedInduction(const SuffixSource& source, const LmsMarks& lms, Index* sa,
                   std::uint64_t* entries, int n_threads)
      : source_(source),
        lms_(lms),
        sa_(sa),
        n_threads_(n_threads),
        bits_(source.text.bits()),
        symbol_mask_((std::uint64_t{1} << bits_) - 1),
        n_carried_(static_cast<unsigned>((64 - kPosBits - 1) / bits_)),
        entries_(entries),
        first_(lms.n_symbols() + 1),
        first_small_(lms.n_symbols()),
        n_kept_(lms.n_symbols()) {
    std::uint64_t row = 0;
    for (std::size_t c = 0; c < lms.n_symbols(); ++c) {
      first_[c] = row;
      first_small_[c] = row + lms.n_large(c);
      row += lms.n_large(c) + lms.n_small(c);
    }
    first_.back() = row;
  }

  // sa begins with the sorted LMS suffixes, without the ends of strings.
  void run() {
    if (source_.text.size() == 0) return;
    enter_lms();
    induce_large();
    induce_small();
  }

 private:
  static constexpr std::uint64_t kPosMask = (std::uint64_t{1} << kPosBits) - 1;
  static constexpr std::size_t kMaxSymbols = 256;

  // An entry: the symbols before a suffix, the nearest lowest, closed by a 1, above its position.
  // With no symbols it is suffix 0.
  std::uint64_t entry_of(std::uint64_t position) const {
    const std::uint64_t n = std::min<std::uint64_t>(position, n_carried_);
    if (n == 0) return std::uint64_t{1} << kPosBits;
    const auto n_bits = static_cast<int>(n) * bits_;
    const std::uint64_t symbols = source_.text.word_at(position - n) >> (64 - n_bits);
    return (std::uint64_t{1} << n_bits | symbols) << kPosBits | position;
  }
  static bool has_before(std::uint64_t entry) { return entry >> kPosBits != 1; }
  std::uint64_t before(std::uint64_t entry) const { return entry >> kPosBits & symbol_mask_; }
  // The entry of the suffix that begins one symbol earlier.
  std::uint64_t induced(std::uint64_t entry) const {
    const std::uint64_t carried = entry >> (kPosBits + bits_);
    const std::uint64_t position = (entry & kPosMask) - 1;
    if (carried == 1) [[unlikely]]
      return entry_of(position);
    return carried << kPosBits | position;
  }

  bool has_ends() const { return !source_.ends.empty(); }

  // To where the small suffixes of each bucket begin.
  void enter_lms() {
    const std::size_t first_symbol = has_ends() ? 1 : 0;
    std::vector<std::uint64_t> lms_end(lms_.n_symbols());  // among the sorted ones
    std::uint64_t n_lms = 0;
    for (std::size_t c = first_symbol; c < lms_end.size(); ++c) lms_end[c] = n_lms += lms_.n_lms(c);
    share_range(n_threads_, n_lms, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
      constexpr std::uint64_t kAhead = 32;
      std::size_t c = first_symbol;
      for (std::uint64_t k = begin; k < end; ++k) {
        while (k >= lms_end[c]) ++c;
        if (k + kAhead < end)
          source_.text.prefetch(std::max<std::uint64_t>(sa_[k + kAhead], n_carried_) - n_carried_);
        entries_[first_small_[c] + (k + lms_.n_lms(c) - lms_end[c])] = entry_of(sa_[k]);
      }
    });
    if (!has_ends()) return;
    share_range(n_threads_, source_.ends.size(),
                [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
                  for (std::uint64_t k = begin; k < end; ++k)
                    entries_[first_small_[0] + k] = entry_of(source_.ends[k]);
                });
  }

  std::uint64_t n_sources(std::size_t symbol) const {
    return symbol == 0 && has_ends() ? source_.ends.size() : lms_.n_lms(symbol);
  }

  void induce_large() {
    const std::size_t n_symbols = lms_.n_symbols();
    std::array<std::uint64_t*, kMaxSymbols + 1> next{};
    for (std::size_t c = 0; c < n_symbols; ++c) next[c] = entries_ + first_[c];
    const std::uint64_t last = source_.text.size() - 1;
    if (!has_ends()) *next[source_.text[last]]++ = entry_of(last);
    for (std::size_t c = 0; c < n_symbols; ++c) {
      // Behind the queues of the symbols: the one of the entries that are kept.
      next[n_symbols] = entries_ + first_[c];
      Index* row = sa_ + first_[c];
      for (const std::uint64_t* from = entries_ + first_[c]; from != next[c]; ++from) {
        const std::uint64_t entry = *from;
        *row++ = static_cast<Index>(entry & kPosMask);
        if (!has_before(entry)) continue;
        const std::uint64_t symbol = before(entry);
        const std::uint64_t moved = induced(entry);
        const bool is_large = symbol >= c;
        *next[is_large ? symbol : n_symbols]++ = is_large ? moved : entry;
      }
      n_kept_[c] = static_cast<std::uint64_t>(next[n_symbols] - (entries_ + first_[c]));
      const std::uint64_t* const lms = entries_ + first_small_[c];
      for (const std::uint64_t* from = lms; from != lms + n_sources(c); ++from) {
        const std::uint64_t symbol = before(*from);
        // What precedes an LMS suffix is large; what precedes an end may be another end.
        if (has_before(*from) && symbol > c) *next[symbol]++ = induced(*from);
      }
    }
  }

  void induce_small() {
    const std::size_t n_symbols = lms_.n_symbols();
    const std::size_t lowest = has_ends() ? 1 : 0;
    std::array<std::uint64_t*, kMaxSymbols + 1> next{};
    for (std::size_t c = 0; c < n_symbols; ++c) next[c] = entries_ + first_[c + 1];
    // What is not to be induced is written here.
    std::uint64_t unused[2];
    next[n_symbols] = unused + 1;
    for (std::size_t c = n_symbols; c-- > lowest;) {
      Index* row = sa_ + first_[c + 1];
      const auto pass_on = [&](std::uint64_t entry) {
        if (!has_before(entry)) return;
        const std::uint64_t symbol = before(entry);
        const bool is_small = symbol - lowest <= c - lowest;
        std::uint64_t*& queue = next[is_small ? symbol : n_symbols];
        queue[-1] = induced(entry);
        queue -= is_small ? 1 : 0;
      };
      for (const std::uint64_t* from = entries_ + first_[c + 1]; from != next[c];) {
        const std::uint64_t entry = *--from;
        *--row = static_cast<Index>(entry & kPosMask);
        pass_on(entry);
      }
      for (const std::uint64_t* from = entries_ + first_[c] + n_kept_[c];
           from != entries_ + first_[c];)
        pass_on(*--from);
    }
    if (has_ends()) std::copy(source_.ends.begin(), source_.ends.end(), sa_);
  }

  const SuffixSource& source_;
  const LmsMarks& lms_;
  Index* const sa_;
  const int n_threads_;
  const int bits_;
  const std::uint64_t symbol_mask_;
  const std::uint64_t n_carried_;
  std::uint64_t* const entries_;            // a queue for each bucket
  std::vector<std::uint64_t> first_;        // where the bucket of each symbol begins
  std::vector<std::uint64_t> first_small_;  // and its small suffixes
  std::vector<std::uint64_t> n_kept_;       // large ones with a smaller symbol before them
};

}  // namespace biogpu::bwt
