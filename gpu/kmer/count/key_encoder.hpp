#pragma once

// For .hip files: the sort keys of the windows that begin in a word of bases.
#include <cstdint>

#include "gpu/kmer/count/sort_keys.hpp"
#include "gpu/kmer/text/packed_bases.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {

inline constexpr unsigned kEncodeBlock = 256;  // threads
inline constexpr unsigned kWindows = 16;       // of a thread
inline constexpr int kMaxTables = 8;

// 64 bases from a word boundary, left-aligned in two words, and their reverse complement likewise.
class BaseWindow64 {
 public:
  __device__ BaseWindow64(const std::uint32_t* bases, std::uint64_t word) {
    const std::uint32_t* from = bases + word;
    high_ = static_cast<std::uint64_t>(from[0]) << 32 | from[1];
    low_ = static_cast<std::uint64_t>(from[2]) << 32 | from[3];
    reverse_high_ = reverse_pairs(~low_);
    reverse_low_ = reverse_pairs(~high_);
  }

  // 32 bases from base i < 32 on.
  __device__ std::uint64_t from(unsigned i) const {
    return i == 0 ? high_ : high_ << 2 * i | low_ >> (64 - 2 * i);
  }
  // The reverse complement of 32 bases that end i before the end of what they were read from.
  __device__ std::uint64_t reverse_to(unsigned i) const {
    return i == 0 ? reverse_low_ : reverse_low_ >> 2 * i | reverse_high_ << (64 - 2 * i);
  }

 private:
  std::uint64_t high_;
  std::uint64_t low_;
  std::uint64_t reverse_high_;
  std::uint64_t reverse_low_;
};

// Entry: of the tables, which holds size_bits bits.
template <class Entry>
class KeyEncoder {
 public:
  __device__ KeyEncoder(const KeyEncoding& rule, const Entry* tables)
      : rule_(rule), tables_(tables), mask_(rule.k == 32 ? ~0ull : (1ull << 2 * rule.k) - 1) {}

  // The sort key of the window that begins i bases into the BaseWindow64.
  __device__ std::uint64_t encode(const BaseWindow64& bases, unsigned i) const {
    std::uint64_t key = bases.from(i) >> (64 - 2 * rule_.k);
    if (rule_.canonical) {
      const std::uint64_t reverse = bases.reverse_to(i) & mask_;
      key = reverse < key ? reverse : key;
    }
    if (rule_.size_bits == 0) return key;
    Entry pos = 0;
    std::uint64_t rest = key;
    for (int t = 0; t < rule_.n_tables; ++t, rest >>= 8) pos ^= tables_[256 * t + (rest & 0xff)];
    // Shifts of 64 are not defined: size_bits is below 2k here.
    return (std::uint64_t{pos} << (2 * rule_.k - rule_.size_bits) | key >> rule_.size_bits) & mask_;
  }

  __device__ std::uint32_t range(std::uint64_t sort_key) const {
    const int down = 2 * rule_.k - kRangeBits;
    return static_cast<std::uint32_t>(down > 0 ? sort_key >> down : sort_key);
  }

 private:
  const KeyEncoding rule_;
  const Entry* tables_;
  const std::uint64_t mask_;
};

// Bit i: the k bases from base 16 word + i on are all valid and within the text.
__device__ __forceinline__ std::uint32_t valid_windows(const SortKeysArgs& a, std::uint64_t word) {
  const std::uint64_t first = word * 16;
  if (first + static_cast<std::uint64_t>(a.rule.k) > a.n_bases) return 0;
  const std::uint32_t* from = a.invalid + word / 2;
  std::uint64_t bad = static_cast<std::uint64_t>(from[1]) << 32 | from[0];
  if (word % 2 != 0) bad = bad >> 16 | static_cast<std::uint64_t>(from[2]) << 48;
  // Bit i of `bad` becomes the or of bits i to i + k - 1, by doubling.
  int covered = 1;
  for (; 2 * covered <= a.rule.k; covered *= 2) bad |= bad >> covered;
  if (covered < a.rule.k) bad |= bad >> (a.rule.k - covered);
  std::uint32_t valid = ~static_cast<std::uint32_t>(bad) & 0xffff;
  const std::uint64_t n_left = a.n_bases - first - static_cast<std::uint64_t>(a.rule.k) + 1;
  if (n_left < kWindows) valid &= (1u << n_left) - 1;
  return valid;
}

template <class Entry>
__device__ __forceinline__ void load_tables(const KeyEncoding& rule, Entry* shared) {
  for (unsigned i = threadIdx.x; i < 256u * static_cast<unsigned>(rule.n_tables); i += kEncodeBlock)
    shared[i] = static_cast<Entry>(rule.tables[i]);
}

// The sort keys of the windows that begin in a word; returns which of them are valid.
template <class Entry>
__device__ __forceinline__ std::uint32_t encode_word(const SortKeysArgs& a,
                                                     const KeyEncoder<Entry>& encoder,
                                                     std::uint64_t word,
                                                     std::uint64_t (&mine)[kWindows]) {
  const std::uint32_t valid = valid_windows(a, word);
  if (valid == 0) return 0;
  const BaseWindow64 bases(a.bases, word);
#pragma unroll
  for (unsigned i = 0; i < kWindows; ++i) mine[i] = encoder.encode(bases, i);
  return valid;
}

// Which of the sort keys are in [first_range, last_range).
template <class Entry>
__device__ __forceinline__ std::uint32_t in_ranges(const KeyEncoder<Entry>& encoder,
                                                   const std::uint64_t (&mine)[kWindows],
                                                   std::uint32_t valid, std::uint32_t first_range,
                                                   std::uint32_t last_range) {
  if (valid == 0) return 0;
#pragma unroll
  for (unsigned i = 0; i < kWindows; ++i) {
    const std::uint32_t range = encoder.range(mine[i]);
    if (range < first_range || range >= last_range) valid &= ~(1u << i);
  }
  return valid;
}

}  // namespace biogpu::gpu::kmer
