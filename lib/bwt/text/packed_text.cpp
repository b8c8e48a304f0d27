#include "lib/bwt/text/packed_text.hpp"

namespace biogpu::bwt {
namespace {

// The 32 bases of a word in reverse order and complemented.
std::uint64_t reverse_complement(std::uint64_t word) {
  word = ~__builtin_bswap64(word);
  word = (word & 0x0f0f0f0f0f0f0f0full) << 4 | (word >> 4 & 0x0f0f0f0f0f0f0f0full);
  return (word & 0x3333333333333333ull) << 2 | (word >> 2 & 0x3333333333333333ull);
}

}  // namespace

PackedText with_reverse_complement(const PackedText& text) {
  const std::uint64_t n = text.size();
  PackedText both(2 * n, 2);
  if (n == 0) return both;
  std::copy_n(text.words(), text.n_words(), both.words());
  // The reverse strand word by word from its own beginning, moved to where the forward one ends.
  const unsigned shift = 2 * (n % 32);
  std::uint64_t* to = both.words() + n / 32;
  for (std::uint64_t begin = 0; begin < n; begin += 32, ++to) {
    const std::uint64_t count = std::min<std::uint64_t>(32, n - begin);
    // Bases [n - begin - count, n - begin) of the text; with fewer than 32, the first of them.
    std::uint64_t word = reverse_complement(text.word_at(n - begin - count) >> (64 - 2 * count));
    if (count < 32) word &= ~(~std::uint64_t{0} >> (2 * count));
    to[0] |= word >> shift;
    if (shift != 0) to[1] |= word << (64 - shift);
  }
  return both;
}

}  // namespace biogpu::bwt
