#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

// The LMS suffixes of a text as a bit vector, and what a bucket of each symbol holds. A suffix is
// small where it is smaller than the next one, else large; it is LMS where it is small and the one
// before it is large. The empty suffix is the smallest. The ends of a string set are small.
class LmsMarks {
 public:
  LmsMarks(const SuffixSource& source, int n_threads);

  std::uint64_t size() const { return n_; }
  std::uint64_t n_large(std::size_t symbol) const { return counts_.large[symbol]; }
  std::uint64_t n_small(std::size_t symbol) const { return counts_.small[symbol]; }
  std::uint64_t n_lms(std::size_t symbol) const { return counts_.lms[symbol]; }
  std::size_t n_symbols() const { return counts_.lms.size(); }

  // The first LMS suffix at i or behind it; size() where there is none. i <= size().
  std::uint64_t next(std::uint64_t i) const {
    std::uint64_t word = marks_[i / 64] >> (i % 64) << (i % 64);
    std::uint64_t w = i / 64;
    while (word == 0) word = marks_[++w];
    return w * 64 + static_cast<unsigned>(std::countr_zero(word));
  }

  [[gnu::always_inline]] void prefetch(std::uint64_t i) const {
    __builtin_prefetch(marks_.data() + i / 64);
  }

  // Calls use(i) for the LMS suffixes in [begin, end), ascending. begin is a multiple of 64, and so
  // is end where it is below size().
  template <class Use>
  void for_each(std::uint64_t begin, std::uint64_t end, const Use& use) const {
    for (std::uint64_t w = begin / 64; w * 64 < end; ++w)
      for (std::uint64_t word = marks_[w]; word != 0; word &= word - 1) {
        const std::uint64_t i = w * 64 + static_cast<unsigned>(std::countr_zero(word));
        if (i < end) use(i);
      }
  }

  // Visits the LMS suffixes from the last to the first.
  class Backward {
   public:
    explicit Backward(const LmsMarks& marks) : marks_(marks), w_((marks.size() + 63) / 64) {}
    // False where none is left.
    bool next(std::uint64_t& i) {
      while (word_ == 0) {
        if (w_ == 0) return false;
        word_ = marks_.marks_[--w_];
        // The mark behind the text is none.
        if (w_ == marks_.n_ / 64) word_ &= (std::uint64_t{1} << (marks_.n_ % 64)) - 1;
      }
      const auto bit = static_cast<unsigned>(63 - std::countl_zero(word_));
      word_ ^= std::uint64_t{1} << bit;
      i = w_ * 64 + bit;
      return true;
    }

   private:
    const LmsMarks& marks_;
    std::uint64_t w_;
    std::uint64_t word_ = 0;
  };

 private:
  struct Counts {
    std::vector<std::uint64_t> large, small, lms;  // by symbol
  };

  bool is_small(const SuffixSource& source, std::uint64_t i) const;
  Counts mark(const SuffixSource& source, std::uint64_t begin, std::uint64_t end);

  const std::uint64_t n_;
  BigArray<std::uint64_t> marks_;  // and one behind the text, where next() stops
  Counts counts_;
};

}  // namespace biogpu::bwt
