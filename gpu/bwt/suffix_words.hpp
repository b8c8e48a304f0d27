// What the kernels that sort suffixes share: words of a packed text in device memory, and their
// blocks.
#pragma once

#include "gpu/bwt/suffix_text.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::bwt {

// Threads of a block in all kernels of the sorts, and the number of a thread among those of the
// grid.
constexpr unsigned kBlock = 256;

__device__ __forceinline__ std::uint32_t thread_index() {
  return blockIdx.x * kBlock + threadIdx.x;
}

// A bit for each whole symbol of the word that is 0.
__device__ __forceinline__ std::uint64_t zero_symbols(const SuffixText& text, std::uint64_t word) {
  std::uint64_t any = word;
  for (int bit = 1; bit < text.bits; ++bit) any |= word << bit;
  return ~any & text.highest_bits;
}

// The 64 bits that begin with symbol i; i <= n.
__device__ __forceinline__ std::uint64_t word_at(const SuffixText& text, std::uint64_t i) {
  const std::uint64_t bit = i * static_cast<unsigned>(text.bits);
  const std::uint64_t* const from = text.words + (bit >> 6);
  const unsigned shift = bit & 63;
  const std::uint64_t word = from[0] << shift | from[1] >> 1 >> (63 - shift);
  if (!text.has_ends) return word;
  const std::uint64_t zeros = zero_symbols(text, word);
  return zeros == 0 ? word : word & ~(~std::uint64_t{0} >> __clzll(static_cast<long long>(zeros)));
}

// Whether the suffix whose symbols from `at` on begin with the word ends within it.
__device__ __forceinline__ bool ends_within(const SuffixText& text, std::uint64_t at,
                                            std::uint64_t word) {
  return text.has_ends ? zero_symbols(text, word) != 0 : at + text.word_symbols >= text.n;
}

// Suffix j of the order that a stable sort is to see.
__device__ __forceinline__ std::uint64_t listed(const SuffixText& text, std::uint64_t j) {
  return text.has_ends ? j : text.n - 1 - j;
}

}  // namespace biogpu::gpu::bwt
