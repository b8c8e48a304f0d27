#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {

// Some numbers of kWords words: word w of each, the most significant first.
template <int kWords>
struct KeyBatch {
  static constexpr std::size_t kSize = 128;

  alignas(64) std::uint64_t word[kWords][kSize];
  std::size_t n = 0;

  Key<kWords> key(std::size_t i) const {
    Key<kWords> key;
    for (std::size_t w = 0; w < kWords; ++w) key.word[w] = word[w][i];
    return key;
  }
  void push(const Key<kWords>& key) {
    for (std::size_t w = 0; w < kWords; ++w) word[w][n] = key.word[w];
    ++n;
  }
};

// A matrix of bits times vectors of them. Products are at most 64 bits.
class BitProduct {
 public:
  BitProduct() = default;
  // columns as BitMatrix has them.
  explicit BitProduct(const std::vector<std::uint64_t>& columns);

  using ByteTable = std::array<std::uint64_t, 256>;
  // What each value of each byte of a vector, the lowest first, adds to the product.
  static std::vector<ByteTable> make_tables(const std::vector<std::uint64_t>& columns);
  // The same, made up to whole words with tables of zeros.
  std::span<const ByteTable> tables() const { return tables_; }
  bool empty() const { return tables_.empty(); }

  template <int kWords>
  std::uint64_t operator()(const Key<kWords>& key) const {
    std::uint64_t sum = 0;
    const ByteTable* table = tables_.data();
    const ByteTable* const end = table + tables_.size();
    for (std::size_t w = kWords; table < end; table += 8) {
      const std::uint64_t word = key.word[--w];
      for (std::size_t byte = 0; byte < 8; ++byte) sum ^= table[byte][word >> 8 * byte & 0xff];
    }
    return sum;
  }

  // products[KeyBatch::kSize], of which the first batch.n are set.
  template <int kWords>
  void operator()(const KeyBatch<kWords>& batch, std::uint64_t* products) const {
    if (multiply_blocks(&batch.word[0][0], KeyBatch<kWords>::kSize, kWords, batch.n, products))
      return;
    for (std::size_t i = 0; i < batch.n; ++i) products[i] = (*this)(batch.key(i));
  }

 private:
  // Bits of a byte of the vector to bits of the bytes of the product, lowest first, as the
  // instruction wants them.
  using Blocks = std::array<std::uint64_t, 8>;

  // By products of matrices of 8 x 8 bits; false where the CPU has none. Word w of vector i lies at
  // words[w * stride + i]; up to a multiple of 8 of them are multiplied.
  bool multiply_blocks(const std::uint64_t* words, std::size_t stride, std::size_t n_words,
                       std::size_t n, std::uint64_t* products) const;

  std::vector<ByteTable> tables_;
  std::vector<Blocks> blocks_;
};

}  // namespace biogpu::kmer
