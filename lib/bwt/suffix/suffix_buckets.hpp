#pragma once

#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"
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

// All suffixes of a text as words, those with the same first bucket_bits bits together, each
// bucket in the order of the text. Two scans of the text: one counts, one places.
template <int kPosBits>
class SuffixBuckets {
 public:
  SuffixBuckets(const SuffixSource& source, int n_threads);

  int bucket_bits() const { return bucket_bits_; }
  std::size_t n_buckets() const { return begin_.size() - 1; }
  std::uint64_t begin(std::size_t bucket) const { return begin_[bucket]; }
  std::uint64_t end(std::size_t bucket) const { return begin_[bucket + 1]; }
  std::uint64_t* words(std::size_t bucket) { return words_.data() + begin_[bucket]; }

 private:
  struct Piece {  // of the text, one for each thread
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<std::uint64_t> count;  // by bucket; later where the next suffix goes
  };

  void count(Piece& piece) const;
  void place(Piece& piece);

  const SuffixSource& source_;
  int bucket_bits_ = 0;
  std::vector<std::uint64_t> begin_;
  BigArray<std::uint64_t> words_;
};

}  // namespace biogpu::bwt
