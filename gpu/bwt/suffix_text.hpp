#pragma once

#include <cstdint>

namespace biogpu::gpu::bwt {

// A packed text of any number of symbols, as lib/bwt's PackedText. words[ceil(n * bits / 64) + 2],
// zeros behind the text. With ends, symbol 0 closes a string: the words of a comparison are cleared
// behind the first one, and of suffixes that are then equal the one further ahead in the text comes
// first. Without, a suffix that ends comes before those that its padding equals.
struct SuffixText {
  const std::uint64_t* words = nullptr;
  std::uint64_t n = 0;
  int bits = 2;
  bool has_ends = false;
  std::uint64_t highest_bits = 0;  // of each whole symbol of a word
  std::uint32_t word_symbols = 32;

  // Words that hold symbols, without the padding.
  std::uint64_t n_words() const { return (n * static_cast<unsigned>(bits) + 63) / 64; }
};

}  // namespace biogpu::gpu::bwt
