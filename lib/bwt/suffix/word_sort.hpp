#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace biogpu::bwt {

inline constexpr std::size_t kInsertionLimit = 24;

template <class Value>
void sort_by_insertion(Value* begin, Value* end) {
  for (Value* i = begin + 1; i < end; ++i) {
    const Value value = *i;
    Value* j = i;
    for (; j > begin && value < j[-1]; --j) *j = j[-1];
    *j = value;
  }
}

// One stable pass of a radix sort by bits [shift, shift + kBits) of key(value). False, with nothing
// moved, where all values have the same bits there.
template <int kBits, class Value, class Key>
bool radix_pass(const Value* from, Value* to, std::size_t n, int shift, const Key& key) {
  constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;
  std::array<std::uint32_t, kMask + 1> next{};
  for (std::size_t i = 0; i < n; ++i) ++next[key(from[i]) >> shift & kMask];
  if (next[key(from[0]) >> shift & kMask] == n) return false;
  std::uint32_t sum = 0;
  for (std::uint32_t& count : next) sum += std::exchange(count, sum);
  for (std::size_t i = 0; i < n; ++i) to[next[key(from[i]) >> shift & kMask]++] = from[i];
  return true;
}

// Sorts n < 2^32 values by bits [low_bit, 64) of key(value), values with equal bits in any order;
// spare has room for n.
template <class Value, class Key>
void sort_by_radix(Value* values, Value* spare, std::size_t n, int low_bit, const Key& key) {
  Value* from = values;
  Value* to = spare;
  const auto pass = [&](auto bits, int shift) {
    if (radix_pass<decltype(bits)::value>(from, to, n, shift, key)) std::swap(from, to);
  };
  int shift = low_bit;
  for (; 64 - shift > 11; shift += 11) pass(std::integral_constant<int, 11>(), shift);
  pass(std::integral_constant<int, 11>(), std::min(shift, 53));
  if (from != values) std::copy_n(from, n, values);
}

// Sorts words; spare has room for as many. Radix passes over the highest bits bring equal ones
// together, then each run is sorted on its own: few are longer than one word.
inline void sort_words(std::uint64_t* words, std::uint64_t* spare, std::size_t n) {
  if (n <= kInsertionLimit) return sort_by_insertion(words, words + n);
  constexpr int kTopBits = 22;
  if (n < 512 || n >> 32 != 0) return std::sort(words, words + n);
  const auto self = [](std::uint64_t word) { return word; };
  sort_by_radix(words, spare, n, 64 - kTopBits, self);
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && (words[begin] ^ words[end]) >> (64 - kTopBits) == 0) ++end;
    const std::size_t size = end - begin;
    if (size > 1 && size <= kInsertionLimit) {
      sort_by_insertion(words + begin, words + end);
    } else if (size > 4096) {
      sort_by_radix(words + begin, spare, size, 64 - 2 * kTopBits, self);
    } else if (size > 1) {
      std::sort(words + begin, words + end);
    }
    begin = end;
  }
}

}  // namespace biogpu::bwt
