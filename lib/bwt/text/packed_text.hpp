#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

// A text of symbols 0 .. 2^bits - 1, packed without gaps: symbol i has bits [i * bits, (i + 1) *
// bits) counted from the highest bit of word 0, so that words compare as the text does. Behind the
// text lie zeros.
class PackedText {
 public:
  PackedText() = default;
  // All symbols 0.
  PackedText(std::uint64_t n_symbols, int bits)
      : words_(n_words(n_symbols, bits) + kPadding), size_(n_symbols), bits_(bits) {
    std::fill_n(words_.data(), words_.size(), 0);
    for (int bit = bits; bit <= 64; bit += bits)
      highest_bits_ |= std::uint64_t{1} << (63 - bit + bits);
  }

  std::uint64_t size() const { return size_; }
  int bits() const { return bits_; }
  std::uint64_t* words() { return words_.data(); }
  const std::uint64_t* words() const { return words_.data(); }
  // Words that hold symbols, without the padding.
  std::size_t n_words() const { return n_words(size_, bits_); }

  // The highest bit of each whole symbol of a word.
  std::uint64_t highest_bits() const { return highest_bits_; }
  // Symbols of one word_at(); what is left below them is the beginning of the next symbol.
  std::uint64_t symbols_per_word() const { return 64u / static_cast<unsigned>(bits_); }

  // The 64 bits that begin with symbol i; i <= size().
  std::uint64_t word_at(std::uint64_t i) const {
    const std::uint64_t bit = i * static_cast<unsigned>(bits_);
    const std::uint64_t* word = words_.data() + (bit >> 6);
    const unsigned shift = bit & 63;
    return word[0] << shift | word[1] >> 1 >> (63 - shift);
  }

  // The same with every bit behind the first symbol 0 cleared.
  std::uint64_t word_to_zero(std::uint64_t i) const {
    const std::uint64_t word = word_at(i);
    const std::uint64_t zeros = zero_symbols(word);
    return zeros == 0 ? word : word & ~(~std::uint64_t{0} >> __builtin_clzll(zeros));
  }

  // Whether a whole symbol of the word is 0.
  bool has_zero(std::uint64_t word) const { return zero_symbols(word) != 0; }

  unsigned operator[](std::uint64_t i) const {
    return static_cast<unsigned>(word_at(i) >> (64 - bits_));
  }

  // Symbol i was 0 before.
  void set(std::uint64_t i, unsigned symbol) {
    const std::uint64_t bit = i * static_cast<unsigned>(bits_);
    const unsigned shift = bit & 63;
    const std::uint64_t value = static_cast<std::uint64_t>(symbol) << (64 - bits_);
    words_[bit >> 6] |= value >> shift;
    if (shift + static_cast<unsigned>(bits_) > 64) words_[(bit >> 6) + 1] |= value << (64 - shift);
  }

  [[gnu::always_inline]] void prefetch(std::uint64_t i) const {
    __builtin_prefetch(words_.data() + (i * static_cast<unsigned>(bits_) >> 6));
  }

 private:
  static constexpr std::size_t kPadding = 2;

  // The highest bit of each symbol that is 0.
  std::uint64_t zero_symbols(std::uint64_t word) const {
    std::uint64_t any = word;
    for (int bit = 1; bit < bits_; ++bit) any |= word << bit;
    return ~any & highest_bits_;
  }

  static std::size_t n_words(std::uint64_t n_symbols, int bits) {
    return (n_symbols * static_cast<unsigned>(bits) + 63) / 64;
  }

  BigArray<std::uint64_t> words_;
  std::uint64_t size_ = 0;
  int bits_ = 2;
  std::uint64_t highest_bits_ = 0;
};

// A text of 2-bit bases followed by its reverse complement (A 0, C 1, G 2, T 3).
PackedText with_reverse_complement(const PackedText& text);

}  // namespace biogpu::bwt
