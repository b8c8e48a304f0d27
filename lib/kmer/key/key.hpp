#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace biogpu::kmer {

inline constexpr int kMaxK = 256;
inline constexpr int kBasesPerWord = 32;

// Words of 64 bits that a k-mer is held in: 1, 2, 4 or 8, the widths that code is compiled for.
constexpr int words_for(int k) {
  return k <= kBasesPerWord ? 1 : k <= 2 * kBasesPerWord ? 2 : k <= 4 * kBasesPerWord ? 4 : 8;
}
constexpr int bytes_for(int k) { return (2 * k + 7) / 8; }

// A k-mer as an integer of 2k bits: A 0, C 1, G 2, T 3, the first base in the highest pair, so that
// integers and letters sort alike. word[0] is the most significant word; bits above 2k are 0.
template <int kWords>
struct Key {
  std::array<std::uint64_t, kWords> word{};

  // Word by word: the library's comparison of arrays is a call.
  friend bool operator==(const Key& a, const Key& b) {
    std::uint64_t difference = 0;
    for (std::size_t w = 0; w < kWords; ++w) difference |= a.word[w] ^ b.word[w];
    return difference == 0;
  }
  friend std::strong_ordering operator<=>(const Key& a, const Key& b) {
    for (std::size_t w = 0; w + 1 < kWords; ++w)
      if (a.word[w] != b.word[w]) return a.word[w] <=> b.word[w];
    return a.word[kWords - 1] <=> b.word[kWords - 1];
  }

  // The bits [low, low + 64), where bit 0 is the lowest; low may be negative.
  std::uint64_t bits_from(int low) const {
    const int first = low >> 6;  // word from the least significant; below 0 where low is
    const int shift = low & 63;
    if (shift == 0) return word_or_0(first);
    return word_or_0(first) >> shift | word_or_0(first + 1) << (64 - shift);
  }

 private:
  std::uint64_t word_or_0(int from_end) const {
    return from_end >= 0 && from_end < kWords
               ? word[static_cast<std::size_t>(kWords - 1 - from_end)]
               : 0;
  }
};

template <int kWords>
constexpr Key<kWords> shift_left(const Key<kWords>& key, int n) {
  Key<kWords> out;
  for (int w = 0; w < kWords; ++w)
    out.word[static_cast<std::size_t>(w)] = key.bits_from(64 * (kWords - 1 - w) - n);
  return out;
}

template <int kWords>
constexpr Key<kWords> shift_right(const Key<kWords>& key, int n) {
  return shift_left(key, -n);
}

// The first of eight bytes becomes the highest.
inline std::uint64_t load_big_endian(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return __builtin_bswap64(bits);
}

// The 32 bases of a word in reverse order.
inline std::uint64_t reverse_bases(std::uint64_t x) {
  x = __builtin_bswap64(x);
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
  return (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
}

template <int kWords>
Key<kWords> reverse_complement(const Key<kWords>& key, int k) {
  Key<kWords> out;
  for (std::size_t w = 0; w < kWords; ++w) out.word[w] = reverse_bases(~key.word[kWords - 1 - w]);
  return shift_right(out, 64 * kWords - 2 * k);
}

// Both strands of a window that slides along a sequence.
template <int kWords>
class RollingKey {
 public:
  explicit RollingKey(int k)
      : top_word_(static_cast<std::size_t>(kWords - 1 - (2 * k - 2) / 64)),
        top_shift_((2 * k - 2) % 64) {
    const int n_top_bits = top_shift_ + 2;
    top_mask_ = n_top_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_top_bits) - 1;
    if constexpr (kWords <= 2) top_word_ = 0;
  }

  void push(std::uint64_t base) {
    const std::size_t top = kWords <= 2 ? 0 : top_word_;
    for (std::size_t w = top; w + 1 < kWords; ++w)
      forward_.word[w] = forward_.word[w] << 2 | forward_.word[w + 1] >> 62;
    forward_.word[kWords - 1] = forward_.word[kWords - 1] << 2 | base;
    forward_.word[top] &= top_mask_;
    for (std::size_t w = kWords - 1; w > top; --w)
      reverse_.word[w] = reverse_.word[w] >> 2 | reverse_.word[w - 1] << 62;
    reverse_.word[top] = reverse_.word[top] >> 2 | (3 - base) << top_shift_;
  }

  const Key<kWords>& forward() const { return forward_; }
  // Word by word without a branch: which strand is smaller cannot be guessed.
  Key<kWords> canonical() const {
    std::uint64_t borrow = 0;  // of reverse_ - forward_
    for (std::size_t w = kWords; w-- > 0;)
      borrow = std::uint64_t{reverse_.word[w] < forward_.word[w]} |
               (std::uint64_t{reverse_.word[w] == forward_.word[w]} & borrow);
    Key<kWords> smaller;
    for (std::size_t w = 0; w < kWords; ++w)
      smaller.word[w] =
          forward_.word[w] ^ ((forward_.word[w] ^ reverse_.word[w]) & (std::uint64_t{0} - borrow));
    return smaller;
  }

 private:
  Key<kWords> forward_;
  Key<kWords> reverse_;
  std::size_t top_word_;  // where the first base lies
  int top_shift_;
  std::uint64_t top_mask_;
};

// Calls what<kWords>() for the number of words that a k-mer of this length takes.
template <class Function>
decltype(auto) with_words(int k, Function&& what) {
  switch (words_for(k)) {
    case 1:
      return what.template operator()<1>();
    case 2:
      return what.template operator()<2>();
    case 4:
      return what.template operator()<4>();
    default:
      return what.template operator()<8>();
  }
}

}  // namespace biogpu::kmer
