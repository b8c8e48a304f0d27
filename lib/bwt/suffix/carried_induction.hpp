#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/entry_queues.hpp"
#include "lib/bwt/suffix/lms_marks.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

// Orders all suffixes of a text from its sorted LMS suffixes, by induction in two scans (large
// suffixes ascending, then small ones descending). Where an induced sort looks up the text before
// each suffix at random, here an entry of a scan carries the symbols before its position: 15 bases
// with a position of 32 bits. So the text is read at random for the LMS suffixes, by all threads,
// and once in 15 inductions; all else reads and writes in sequence.
//
// A scan takes from the queue of each bucket and appends to the queue of the symbol before. Large
// suffixes with a smaller symbol before them are kept: with them begins the second scan. Each LMS
// suffix has one entry that waits in some queue, or none any more.
//
// Memory: 8 bytes for each LMS suffix, which are half of the suffixes at most.
template <class Index>
class CarriedInduction {
 public:
  static constexpr int kPosBits = sizeof(Index) == 4 ? 32 : 40;

  // words: room for n_words().
  CarriedInduction(const SuffixSource& source, const LmsMarks& lms, Index* sa, std::uint64_t* words,
                   int n_threads)
      : source_(source),
        lms_(lms),
        sa_(sa),
        n_threads_(n_threads),
        n_symbols_(lms.n_symbols()),
        bits_(source.text.bits()),
        symbol_mask_((std::uint64_t{1} << bits_) - 1),
        n_carried_(static_cast<unsigned>((64 - kPosBits - 1) / bits_)),
        queues_(n_queues(lms), words) {}

  static std::uint64_t n_words(const SuffixSource& source, const LmsMarks& lms) {
    std::uint64_t n_waiting = 1 + source.ends.size();
    for (std::size_t c = 0; c < lms.n_symbols(); ++c) n_waiting += lms.n_lms(c);
    return EntryQueues::n_words(n_queues(lms), n_waiting);
  }

  // sa ends with the sorted LMS suffixes, without the ends of strings: what the first scan writes
  // stays before those that it has not come to.
  void run() {
    if (source_.text.size() == 0) return;
    induce_large();
    induce_small();
  }

 private:
  static constexpr std::uint64_t kPosMask = (std::uint64_t{1} << kPosBits) - 1;

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
  // The lowest symbol that is induced.
  std::size_t lowest() const { return has_ends() ? 1 : 0; }

  static std::size_t n_queues(const LmsMarks& lms) { return 2 * lms.n_symbols() + 1; }
  std::size_t kept(std::size_t symbol) const { return n_symbols_ + symbol; }

  void induce_large() {
    const std::uint64_t last = source_.text.size() - 1;
    if (!has_ends()) queues_.push(source_.text[last], entry_of(last));
    std::uint64_t n_lms = 0;
    for (std::size_t c = lowest(); c < n_symbols_; ++c) n_lms += lms_.n_lms(c);
    const Index* lms = sa_ + source_.text.size() - n_lms;
    Index* row = sa_;
    for (std::size_t c = 0; c < n_symbols_; ++c) {
      queues_.read_forward(c, [&](std::uint64_t entry) {
        *row++ = static_cast<Index>(entry & kPosMask);
        if (!has_before(entry)) return;
        const std::uint64_t symbol = before(entry);
        const std::uint64_t moved = induced(entry);
        const bool is_large = symbol >= c;
        queues_.push(is_large ? symbol : kept(c), is_large ? moved : entry);
      });
      row += lms_.n_small(c);
      if (c < lowest()) {
        induce_before(source_.ends.data(), source_.ends.size());
      } else {
        induce_before(lms, lms_.n_lms(c));
        lms += lms_.n_lms(c);
      }
    }
  }

  // From LMS suffixes or ends of strings, some at a time, whose entries all threads make.
  template <class Position>
  void induce_before(const Position* positions, std::uint64_t n) {
    constexpr std::uint64_t kPerThread = 1u << 14;
    constexpr std::uint64_t kAhead = 32;
    const std::uint64_t step = kPerThread * static_cast<unsigned>(std::max(n_threads_, 1));
    std::vector<std::uint64_t> entries(std::min(n, step));
    for (std::uint64_t done = 0; done < n; done += step, positions += step) {
      const std::uint64_t n_now = std::min(n - done, step);
      run_ranges_on_threads(
          n_threads_, n_now, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t k = begin; k < end; ++k) {
              if (k + kAhead < end)
                source_.text.prefetch(std::max<std::uint64_t>(positions[k + kAhead], n_carried_) -
                                      n_carried_);
              entries[k] = entry_of(positions[k]);
            }
          });
      for (std::uint64_t k = 0; k < n_now; ++k) {
        const std::uint64_t entry = entries[k];
        // What precedes an LMS suffix is large; what precedes an end may be another end.
        if (has_before(entry) && before(entry) >= lowest())
          queues_.push(before(entry), induced(entry));
      }
    }
  }

  void induce_small() {
    Index* row = sa_ + source_.text.size();
    for (std::size_t c = n_symbols_; c-- > lowest();) {
      const auto pass_on = [&](std::uint64_t entry) {
        if (!has_before(entry)) return;
        const std::uint64_t symbol = before(entry);
        const bool is_small = symbol - lowest() <= c - lowest();
        queues_.push_if(is_small, is_small ? symbol : 2 * n_symbols_, induced(entry));
      };
      queues_.read_forward(c, [&](std::uint64_t entry) {
        *--row = static_cast<Index>(entry & kPosMask);
        pass_on(entry);
      });
      row -= lms_.n_large(c);
      queues_.read_backward(kept(c), pass_on);
    }
    if (has_ends()) std::copy(source_.ends.begin(), source_.ends.end(), sa_);
  }

  const SuffixSource& source_;
  const LmsMarks& lms_;
  Index* const sa_;
  const int n_threads_;
  const std::size_t n_symbols_;
  const int bits_;
  const std::uint64_t symbol_mask_;
  const std::uint64_t n_carried_;
  EntryQueues queues_;  // of each bucket, kept ones of each bucket, and one of nothing
};

}  // namespace biogpu::bwt
