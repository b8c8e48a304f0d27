#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {

template <int kWords>
struct SortKeyCount {
  Key<kWords> sort_key;
  std::uint64_t count = 0;
};

// Of a rank, the lowest bits that hold the number of one of n entries.
inline int index_bits(std::size_t n) { return static_cast<int>(std::bit_width(n)); }

inline constexpr int kDigitBits = 11;  // of a pass of the radix sort

// Sorts by the highest n_passes * kDigitBits bits. spare: room to work in.
inline void radix_sort_high_bits(std::vector<std::uint64_t>& values,
                                 std::vector<std::uint64_t>& spare, int n_passes) {
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  spare.resize(values.size());
  for (int pass = n_passes; pass > 0; --pass) {
    const int shift = 64 - pass * kDigitBits;
    const auto digit = [shift](std::uint64_t value) {
      return static_cast<std::size_t>(value >> shift & (kDigits - 1));
    };
    std::array<std::size_t, kDigits> next{};
    for (const std::uint64_t value : values) ++next[digit(value)];
    std::size_t begin = 0;
    for (std::size_t& n : next) begin += std::exchange(n, begin);
    for (const std::uint64_t value : values) spare[next[digit(value)]++] = value;
    values.swap(spare);
  }
}

// Lists the entries in the order of the lowest n_bits of their sort keys. What moves is not the
// entries but ranks: the highest of those bits above the entry's number, index_bits() of it. Few
// are still out of order after a radix sort by the highest bits of ranks; these are compared.
template <int kWords>
void rank_by_sort_key(const std::vector<SortKeyCount<kWords>>& entries, int n_bits,
                      std::vector<std::uint64_t>& ranks, std::vector<std::uint64_t>& spare) {
  constexpr std::size_t kSmall = 64;
  constexpr int kSpareBits = 4;  // of n entries n / 2^kSpareBits share their digits with another
  constexpr int kMaxPasses = 3;
  const int n_index = index_bits(entries.size());
  const std::uint64_t index_mask = (std::uint64_t{1} << n_index) - 1;
  ranks.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    ranks[i] = (entries[i].sort_key.bits_from(n_bits - 64) & ~index_mask) | i;
  const auto before = [&](std::uint64_t a, std::uint64_t b) {
    if (((a ^ b) & ~index_mask) != 0) return a < b;
    return entries[a & index_mask].sort_key < entries[b & index_mask].sort_key;
  };
  if (entries.size() <= kSmall) {
    std::sort(ranks.begin(), ranks.end(), before);
    return;
  }
  const int n_sorted_bits = std::clamp(n_bits, 1, n_index + kSpareBits);
  const int n_passes = std::min(
      {kMaxPasses, (n_sorted_bits + kDigitBits - 1) / kDigitBits, (64 - n_index) / kDigitBits});
  radix_sort_high_bits(ranks, spare, n_passes);
  const int low = 64 - n_passes * kDigitBits;
  for (auto run = ranks.begin(); run != ranks.end();) {
    auto end = run + 1;
    while (end != ranks.end() && (*run ^ *end) >> low == 0) ++end;
    if (end - run > 1) std::sort(run, end, before);
    run = end;
  }
}

}  // namespace biogpu::kmer
