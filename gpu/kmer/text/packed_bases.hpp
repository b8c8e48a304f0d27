#pragma once

// For .hip files: k-mers read from letters packed as a TextChunk has them.
#include <cstdint>

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {

// The 32 bases of a word in reverse order.
__device__ __forceinline__ std::uint64_t reverse_pairs(std::uint64_t x) {
  x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0full) | (x & 0x0f0f0f0f0f0f0f0full) << 4;
  x = (x >> 8 & 0x00ff00ff00ff00ffull) | (x & 0x00ff00ff00ff00ffull) << 8;
  x = (x >> 16 & 0x0000ffff0000ffffull) | (x & 0x0000ffff0000ffffull) << 16;
  return x >> 32 | x << 32;
}

// The 32 bases from base `at` on, the first in the highest pair; up to 3 words of 16 are read.
__device__ __forceinline__ std::uint64_t bases_at(const std::uint32_t* bases, std::uint64_t at) {
  const std::uint32_t* from = bases + at / 16;
  const unsigned shift = 2 * (at % 16);
  const std::uint64_t high = static_cast<std::uint64_t>(from[0]) << 32 | from[1];
  return shift == 0 ? high : high << shift | from[2] >> (32 - shift);
}

// A k-mer that lies in packed bases. Word e holds its bases [k - 32 (e + 1), k - 32 e), the last in
// the lowest pair: words count from the least significant, as in a number of 2k bits.
class PackedKmer {
 public:
  __device__ PackedKmer(const std::uint32_t* bases, std::uint64_t begin, int k)
      : bases_(bases), begin_(begin), k_(k) {}

  __device__ int n_words() const { return (k_ + 31) / 32; }

  __device__ std::uint64_t forward(int e) const {
    const int first = k_ - 32 * (e + 1);
    if (first >= 0) return bases_at(bases_, begin_ + static_cast<std::uint64_t>(first));
    return bases_at(bases_, begin_) >> -2 * first;
  }

  // The same of the reverse complement.
  __device__ std::uint64_t reverse(int e) const {
    const std::uint64_t word =
        reverse_pairs(~bases_at(bases_, begin_ + static_cast<std::uint64_t>(32 * e)));
    const int n_bases = k_ - 32 * e;
    return n_bases >= 32 ? word : word & ((1ull << 2 * n_bases) - 1);
  }

  // Whether the reverse complement is the smaller of the two.
  __device__ bool is_reversed() const {
    for (int e = n_words() - 1; e >= 0; --e) {
      const std::uint64_t a = forward(e);
      const std::uint64_t b = reverse(e);
      if (a != b) return b < a;
    }
    return false;
  }

 private:
  const std::uint32_t* bases_;
  std::uint64_t begin_;
  int k_;
};

}  // namespace biogpu::gpu::kmer
