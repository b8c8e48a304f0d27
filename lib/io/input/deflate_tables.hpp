#pragma once

// The code tables of DeflateDecoder. An entry of 32 bits: the length of the code in bits 0 to 4;
// what it is in bits 5 to 7; the number of extra bits, or of a subtable's index bits, in bits 8 to
// 12; the value, or where the subtable begins, from bit 16 on.
#include <algorithm>
#include <cstdint>

#include "lib/io/input/deflate.hpp"

namespace biogpu::io::input {

enum class Kind : unsigned { literal, copy, end, subtable, none };

inline Kind kind_of(std::uint32_t entry) { return static_cast<Kind>(entry >> 5 & 7); }

inline std::uint32_t make_entry(Kind kind, unsigned extra, unsigned value) {
  return static_cast<std::uint32_t>(kind) << 5 | extra << 8 | value << 16;
}

// The order in which a block tells the lengths of the codes for lengths.
inline constexpr int kLengthOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};

// What symbol s of a table says, without the length of its code.
inline std::uint32_t meaning_of_literal(int s) {
  if (s < 256) return make_entry(Kind::literal, 0, static_cast<unsigned>(s));
  if (s == 256) return make_entry(Kind::end, 0, 0);
  if (s > 285) return make_entry(Kind::none, 0, 0);
  if (s == 285) return make_entry(Kind::copy, 0, 258);
  const unsigned n = static_cast<unsigned>(s) - 257;
  if (n < 8) return make_entry(Kind::copy, 0, 3 + n);
  const unsigned extra = n / 4 - 1;
  return make_entry(Kind::copy, extra, 3 + ((4 + n % 4) << extra));
}

inline std::uint32_t meaning_of_distance(int s) {
  if (s > 29) return make_entry(Kind::none, 0, 0);
  const auto n = static_cast<unsigned>(s);
  if (n < 4) return make_entry(Kind::copy, 0, 1 + n);
  const unsigned extra = n / 2 - 1;
  return make_entry(Kind::copy, extra, 1 + ((2 + n % 2) << extra));
}

inline std::uint32_t reversed_bits(std::uint32_t code, int n) {
  std::uint32_t out = 0;
  for (int i = 0; i < n; ++i) out |= (code >> i & 1) << (n - 1 - i);
  return out;
}

// The complete code of the code lengths: seven bits, an entry is length << 5 | symbol.
struct LengthTable {
  std::uint8_t entries[128];

  void build(const std::uint8_t* lengths) {
    std::uint32_t code = 0;
    for (int length = 1; length <= 7; ++length, code <<= 1)
      for (int s = 0; s < 19; ++s) {
        if (lengths[s] != length) continue;
        for (std::uint32_t at = reversed_bits(code, length); at < 128; at += 1u << length)
          entries[at] = static_cast<std::uint8_t>(length << 5 | s);
        ++code;
      }
  }
};

template <unsigned kRootBits>
std::uint32_t look_up(const std::uint32_t* entries, std::uint64_t bits) {
  std::uint32_t entry = entries[bits & ((1u << kRootBits) - 1)];
  if (kind_of(entry) == Kind::subtable) [[unlikely]] {
    const unsigned n_index = entry >> 8 & 31;
    entry = entries[(entry >> 16) + (bits >> kRootBits & ((1u << n_index) - 1))];
  }
  return entry;
}

}  // namespace biogpu::io::input
