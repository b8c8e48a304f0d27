#pragma once

#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/lms_marks.hpp"
#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/bwt/suffix/word_sort.hpp"
#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

// A suffix in one word: the bits of the text that follow those of its bucket, above its position.
// Words of one bucket compare as far as these bits tell, then by position.
template <int kPosBits>
struct SuffixWord {
  static constexpr std::uint64_t kPosMask = (std::uint64_t{1} << kPosBits) - 1;
  static constexpr int kKeyBits = 64 - kPosBits;

  static std::uint64_t make(std::uint64_t text_word, int bucket_bits, std::uint64_t position) {
    return (text_word << bucket_bits & ~kPosMask) | position;
  }
  static std::uint64_t position(std::uint64_t word) { return word & kPosMask; }
  static bool same_key(std::uint64_t a, std::uint64_t b) { return (a ^ b) >> kPosBits == 0; }
};

// All suffixes of a text, or the LMS suffixes alone without the ends of strings, as words, those
// with the same first bucket_bits bits together, each bucket in the order of the text. Two scans of
// the text: one counts, one places.
template <int kPosBits>
class SuffixBuckets {
 public:
  // words has room for the suffixes, of which count_suffixes() tells the number.
  SuffixBuckets(const SuffixSource& source, std::uint64_t* words, int n_threads,
                const LmsMarks* lms = nullptr);
  static std::uint64_t count_suffixes(const SuffixSource& source, const LmsMarks* lms);

  // Symbols that the words of a bucket are compared by.
  std::uint64_t key_symbols() const {
    return static_cast<std::uint64_t>((bucket_bits_ + SuffixWord<kPosBits>::kKeyBits) /
                                      source_.text.bits());
  }
  // Sorts a bucket and stores its positions from sa[begin(bucket)] on.
  template <class Index>
  void sort(std::size_t bucket, std::vector<std::uint64_t>& spare, Index* sa) {
    const std::uint64_t n = end(bucket) - begin(bucket);
    std::uint64_t* const sorted = words(bucket);
    if (spare.size() < n) spare.resize(n);
    sort_words(sorted, spare.data(), n);
    sa += begin(bucket);
    for (std::uint64_t i = 0; i < n; ++i)
      sa[i] = static_cast<Index>(SuffixWord<kPosBits>::position(sorted[i]));
  }
  // Calls use(row, size) for each run of equal keys of a sorted bucket that is longer than 1.
  template <class Use>
  void for_each_tie(std::size_t bucket, const Use& use) const {
    constexpr std::uint64_t kAhead = 24;
    const std::uint64_t last = end(bucket);
    std::uint64_t ahead = begin(bucket);
    for (std::uint64_t i = begin(bucket); i + 1 < last;) {
      std::uint64_t j = i + 1;
      while (j < last && SuffixWord<kPosBits>::same_key(words_[i], words_[j])) ++j;
      for (; ahead + 1 < last && ahead < j + kAhead; ++ahead)
        if (SuffixWord<kPosBits>::same_key(words_[ahead], words_[ahead + 1])) {
          prefetch(SuffixWord<kPosBits>::position(words_[ahead]));
          prefetch(SuffixWord<kPosBits>::position(words_[ahead + 1]));
        }
      if (j - i > 1) use(i, j - i);
      i = j;
    }
  }

  int bucket_bits() const { return bucket_bits_; }
  std::size_t n_buckets() const { return begin_.size() - 1; }
  std::uint64_t begin(std::size_t bucket) const { return begin_[bucket]; }
  std::uint64_t end(std::size_t bucket) const { return begin_[bucket + 1]; }
  std::uint64_t* words(std::size_t bucket) { return words_ + begin_[bucket]; }

 private:
  struct Piece {  // of the text, one for each thread
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<std::uint64_t> count;  // by bucket; later where the next suffix goes
  };

  // What the comparison of a tie reads. Inlined: GCC drops calls of functions without effects.
  [[gnu::always_inline]] void prefetch(std::uint64_t position) const {
    source_.text.prefetch(position + key_symbols());
    if (lms_ != nullptr) lms_->prefetch(position);
  }
  template <class Use>
  void for_each_suffix(const Piece& piece, const Use& use) const;
  void count(Piece& piece) const;
  void place(Piece& piece);

  const SuffixSource& source_;
  const LmsMarks* const lms_;
  int bucket_bits_ = 0;
  std::vector<std::uint64_t> begin_;
  std::uint64_t* const words_;
};

}  // namespace biogpu::bwt
