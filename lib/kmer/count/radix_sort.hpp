#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/kmer/key.hpp"

namespace biogpu::kmer {

template <int kWords>
struct PlacedCount {
  Key<kWords> place;
  std::uint64_t count = 0;
};

// Sorts by the lowest n_bits of the places, which are distinct: a radix sort by the highest 33 of
// these bits, after which few entries are still out of order.
template <int kWords>
void sort_by_place(std::vector<PlacedCount<kWords>>& entries,
                   std::vector<PlacedCount<kWords>>& spare, int n_bits) {
  constexpr int kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  constexpr std::size_t kSmall = 64;
  const auto by_place = [](const PlacedCount<kWords>& a, const PlacedCount<kWords>& b) {
    return a.place < b.place;
  };
  if (entries.size() <= kSmall) {
    std::sort(entries.begin(), entries.end(), by_place);
    return;
  }
  const int low = std::max(0, n_bits - 3 * kDigitBits);
  spare.resize(entries.size());
  for (int shift = low; shift < n_bits; shift += kDigitBits) {
    const auto digit = [shift](const PlacedCount<kWords>& entry) {
      return static_cast<std::size_t>(entry.place.bits_from(shift) & (kDigits - 1));
    };
    std::array<std::size_t, kDigits> next{};
    for (const auto& entry : entries) ++next[digit(entry)];
    std::size_t begin = 0;
    for (std::size_t& n : next) begin += std::exchange(n, begin);
    for (const auto& entry : entries) spare[next[digit(entry)]++] = entry;
    entries.swap(spare);
  }
  if (low == 0) return;
  const auto same_digits = [low](const PlacedCount<kWords>& a, const PlacedCount<kWords>& b) {
    return a.place.bits_from(low) == b.place.bits_from(low);
  };
  for (auto run = entries.begin(); run != entries.end();) {
    auto end = run + 1;
    while (end != entries.end() && same_digits(*run, *end)) ++end;
    if (end - run > 1) std::sort(run, end, by_place);
    run = end;
  }
}

}  // namespace biogpu::kmer
