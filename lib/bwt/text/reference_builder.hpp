#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "lib/bwt/text/reference.hpp"

namespace biogpu::bwt {
namespace detail {

inline constexpr std::uint8_t kAmbiguous = 4;

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(kAmbiguous);
  for (std::uint8_t i = 0; i < 4; ++i) {
    codes[static_cast<unsigned char>("ACGT"[i])] = i;
    codes[static_cast<unsigned char>("acgt"[i])] = i;
  }
  return codes;
}
inline constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

// Eight letters of A, C, G, T in either case as 16 bits, the first highest; false where one is
// another. Bits 1 and 2 of a letter tell its code, and the code what the letter must have been.
inline bool pack_eight(const char* letters, std::uint32_t& packed) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kEach = 0x0101010101010101u;
  std::uint64_t word = 0;
  std::memcpy(&word, letters, sizeof word);
  word &= 0xdf * kEach;
  const std::uint64_t low = (word >> 1 ^ word >> 2) & kEach;
  const std::uint64_t high = (word >> 2 ^ word >> 3) & kEach;
  if (word != 'A' * kEach + 2 * low + 6 * high + 11 * (low & high)) return false;
  std::uint64_t codes = __builtin_bswap64(high << 1 | low);
  codes = (codes | codes >> 6) & 0x000f000f000f000fu;
  codes = (codes | codes >> 12) & 0x000000ff000000ffu;
  packed = static_cast<std::uint32_t>((codes | codes >> 24) & 0xffffu);
  return true;
}

}  // namespace detail

// Packs letters into a growing text and notes the holes.
class ReferenceBuilder {
 public:
  explicit ReferenceBuilder(Reference& reference) : reference_(reference) {}

  void begin_record() { last_letter_ = -1; }

  void append(std::string_view letters) {
    std::size_t i = 0;
    while (i < letters.size()) {
      std::uint32_t eight = 0;
      if (i + 8 <= letters.size() && detail::pack_eight(letters.data() + i, eight)) {
        push_eight(eight);
        i += 8;
        last_letter_ = letters[i - 1];
        continue;
      }
      const std::uint8_t code = detail::kCodes[static_cast<unsigned char>(letters[i])];
      if (code == detail::kAmbiguous) {
        push(hole(letters[i]));
        ++i;
        continue;
      }
      push(code);
      last_letter_ = letters[i++];
    }
  }

  std::uint64_t size() const { return size_; }

  void finish() {
    if (n_in_word_ > 0) words_.push_back(word_ << (64 - 2 * n_in_word_));
    reference_.text = PackedText(size_, 2);
    std::copy(words_.begin(), words_.end(), reference_.text.words());
  }

 private:
  void push(unsigned base) {
    word_ = word_ << 2 | base;
    ++size_;
    if (++n_in_word_ < 32) return;
    words_.push_back(word_);
    n_in_word_ = 0;
  }

  void push_eight(std::uint64_t bases) {
    size_ += 8;
    const unsigned n_fit = std::min(8u, 32 - n_in_word_);
    const unsigned n_over = 8 - n_fit;
    word_ = word_ << (2 * n_fit) | bases >> (2 * n_over);
    n_in_word_ += n_fit;
    if (n_in_word_ < 32) return;
    words_.push_back(word_);
    word_ = bases & ((std::uint64_t{1} << (2 * n_over)) - 1);
    n_in_word_ = n_over;
  }

  // Notes an ambiguous letter and returns the base in its place.
  unsigned hole(char letter) {
    if (last_letter_ == static_cast<unsigned char>(letter)) {
      ++reference_.holes.back().length;
    } else {
      reference_.holes.push_back({size_, 1, letter});
      ++reference_.contigs.back().n_holes;
    }
    last_letter_ = static_cast<unsigned char>(letter);
    return filler_.next();
  }

  Reference& reference_;
  std::vector<std::uint64_t> words_;
  std::uint64_t word_ = 0;
  unsigned n_in_word_ = 0;
  std::uint64_t size_ = 0;
  int last_letter_ = -1;  // of this record
  FillerBases filler_;
};

}  // namespace biogpu::bwt
