#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kmer/key.hpp"
#include "lib/kmer/order/bit_matrix.hpp"

namespace biogpu::kmer {

// The order of the records in a database: a bijection of the integers of 2k bits, so that sorting
// by place(key) is the order and restore() gives the key back without carrying it along.
//
// Lexicographic order is the identity. Jellyfish's files are sorted by (pos, key) where
// pos = M key, M of size_bits x 2k bits; since the last size_bits columns of M are independent, pos
// and the high bits of key determine key, and place(key) = pos << (2k - size_bits) |
// key >> size_bits sorts the same way.
class KeyOrder {
 public:
  KeyOrder() = default;
  static KeyOrder lexicographic(int k);
  // Records that follow no order: equal to no other.
  static KeyOrder unordered(int k) {
    KeyOrder order;
    order.k_ = k;
    order.unordered_ = true;
    return order;
  }
  // Jellyfish's order for a table of 2^size_bits slots. identity: pos is the low bits of the key.
  static KeyOrder jellyfish(int k, int size_bits, bool identity);
  // That of a given matrix. is_bijective() is false where its last columns are dependent; then
  // place() and restore() are not to be called.
  static KeyOrder of_matrix(int k, const BitMatrix& matrix);

  int k() const { return k_; }
  int size_bits() const { return matrix_.n_rows; }  // 0: lexicographic without a table
  bool is_identity() const { return identity_; }
  bool is_bijective() const { return identity_ || !inverse_.columns.empty(); }
  const BitMatrix& matrix() const { return matrix_; }

  friend bool operator==(const KeyOrder& a, const KeyOrder& b) {
    if (a.unordered_ || b.unordered_) return false;
    return a.k_ == b.k_ && a.keeps_keys() == b.keeps_keys() &&
           (a.keeps_keys() || a.matrix_ == b.matrix_);
  }

  // Whether place() is the identity.
  bool keeps_keys() const { return identity_ && (size_bits() == 0 || size_bits() == 2 * k_); }

  using ByteTable = std::array<std::uint64_t, 256>;
  // What each value of each byte of a key, the lowest first, adds to its slot.
  std::span<const ByteTable> position_tables() const {
    return {forward_.data(), std::min(forward_.size(), static_cast<std::size_t>(bytes_for(k_)))};
  }
  // The same for any matrix.
  static std::vector<ByteTable> make_tables(const std::vector<std::uint64_t>& columns);

  // The slot, M key.
  template <int kWords>
  std::uint64_t position(const Key<kWords>& key) const {
    return product<kWords>(forward_, key);
  }

  template <int kWords>
  Key<kWords> place(const Key<kWords>& key) const {
    if (keeps_keys()) return key;
    const int r = size_bits();
    Key<kWords> high;
    high.word[kWords - 1] = position(key);
    Key<kWords> place = shift_left(high, 2 * k_ - r);
    const Key<kWords> low = shift_right(key, r);
    for (std::size_t w = 0; w < kWords; ++w) place.word[w] |= low.word[w];
    return place;
  }

  template <int kWords>
  Key<kWords> restore(const Key<kWords>& place) const {
    if (keeps_keys()) return place;
    Key<kWords> key = shift_left(place, size_bits());
    for (int w = 0; w < kWords; ++w) {  // cuts off the pos that was displaced
      const int n_bits = 2 * k_ - 64 * (kWords - 1 - w);
      std::uint64_t& word = key.word[static_cast<std::size_t>(w)];
      if (n_bits < 64) word = n_bits <= 0 ? 0 : word & ((std::uint64_t{1} << n_bits) - 1);
    }
    key.word[kWords - 1] |= product<kWords>(backward_, place);
    return key;
  }

 private:
  // A matrix times a vector, a byte of the vector at a time; table 0 belongs to its lowest byte.
  template <int kWords>
  static std::uint64_t product(const std::vector<ByteTable>& tables, const Key<kWords>& key) {
    std::uint64_t sum = 0;
    const ByteTable* table = tables.data();
    const ByteTable* const end = table + tables.size();
    for (std::size_t w = kWords; table < end; table += 8) {
      const std::uint64_t word = key.word[--w];
      for (std::size_t byte = 0; byte < 8; ++byte) sum ^= table[byte][word >> 8 * byte & 0xff];
    }
    return sum;
  }

  int k_ = 0;
  bool unordered_ = false;
  bool identity_ = false;
  BitMatrix matrix_;
  BitMatrix inverse_;
  // Made up to whole words with tables of zeros.
  std::vector<ByteTable> forward_;   // key -> pos
  std::vector<ByteTable> backward_;  // place -> low bits of the key
};

}  // namespace biogpu::kmer
