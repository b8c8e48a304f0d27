#pragma once

#include <cstdint>

namespace biogpu::bwt {

// 128 symbols of the transform in one cache line, as two bit planes with the first symbol in the
// highest bit, and for each base the row that its first occurrence in the block leads to.
struct alignas(64) BwaBlock {
  std::uint64_t next_row[4];
  std::uint64_t low[2];
  std::uint64_t high[2];
};
static_assert(sizeof(BwaBlock) == 64);
inline constexpr std::uint64_t kBwaBlockSymbols = 128;

// The bits of the first n < 128 symbols of a block, without a branch: n is as good as random.
struct BwaPrefix {
  explicit BwaPrefix(std::uint64_t n) {
    const std::uint64_t bits = ~(~std::uint64_t{0} >> n % 64);
    const std::uint64_t is_behind_first = std::uint64_t{0} - n / 64;
    word[0] = bits | is_behind_first;
    word[1] = bits & is_behind_first;
  }
  std::uint64_t word[2];
};

// A base to compare the symbols of blocks with.
class BwaBase {
 public:
  explicit BwaBase(unsigned base)
      : low_(std::uint64_t{0} - (base & 1)), high_(std::uint64_t{0} - (base >> 1)) {}

  // Symbol i of the block.
  BwaBase(const BwaBlock& block, unsigned i)
      : BwaBase(static_cast<unsigned>(block.low[i / 64] >> (63 - i % 64) & 1) |
                static_cast<unsigned>(block.high[i / 64] >> (63 - i % 64) & 1) << 1) {}

  std::uint64_t first_row(const BwaBlock& block) const {
    return block.next_row[(high_ & 2) | (low_ & 1)];
  }
  // How many symbols from i on equal the base, which symbol i is.
  unsigned run_length(const BwaBlock& block, unsigned i) const {
    const unsigned in_word = 64 - i % 64;
    const unsigned n = n_leading(equal(block, i / 64) << i % 64);
    if (n < in_word || i >= 64) return n;
    return in_word + n_leading(equal(block, 1));
  }

  // How many of the first symbols, or of all, equal the base, and how many are larger.
  std::uint64_t n_equal(const BwaBlock& block, const BwaPrefix& prefix) const {
    return n_bits(equal(block, 0) & prefix.word[0]) + n_bits(equal(block, 1) & prefix.word[1]);
  }
  std::uint64_t n_equal(const BwaBlock& block) const {
    return n_bits(equal(block, 0)) + n_bits(equal(block, 1));
  }
  std::uint64_t n_larger(const BwaBlock& block, const BwaPrefix& prefix) const {
    return n_bits(larger(block, 0) & prefix.word[0]) + n_bits(larger(block, 1) & prefix.word[1]);
  }

 private:
  static std::uint64_t n_bits(std::uint64_t word) {
    return static_cast<std::uint64_t>(__builtin_popcountll(word));
  }
  static unsigned n_leading(std::uint64_t word) {
    return ~word == 0 ? 64 : static_cast<unsigned>(__builtin_clzll(~word));
  }
  std::uint64_t equal(const BwaBlock& block, unsigned w) const {
    return ~((block.high[w] ^ high_) | (block.low[w] ^ low_));
  }
  std::uint64_t larger(const BwaBlock& block, unsigned w) const {
    return (block.high[w] & ~high_) | (~(block.high[w] ^ high_) & block.low[w] & ~low_);
  }

  std::uint64_t low_;
  std::uint64_t high_;
};

}  // namespace biogpu::bwt
