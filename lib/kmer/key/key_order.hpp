#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/kmer/key/bit_matrix.hpp"
#include "lib/kmer/key/bit_product.hpp"
#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {

// The order of the records in a database: a bijection of the integers of 2k bits, so that sorting
// by encode(key) is the order and decode() gives the key back without carrying it along.
//
// Lexicographic order is the identity. Jellyfish's files are sorted by (pos, key) where
// pos = M key, M of size_bits x 2k bits; since the last size_bits columns of M are independent, pos
// and the high bits of key determine key, and encode(key) = pos << (2k - size_bits) |
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
  // encode() and decode() are not to be called.
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

  // Whether encode() is the identity.
  bool keeps_keys() const { return identity_ && (size_bits() == 0 || size_bits() == 2 * k_); }

  // What each value of each byte of a key, the lowest first, adds to its slot.
  std::span<const BitProduct::ByteTable> position_tables() const {
    const auto tables = forward_.tables();
    return tables.first(std::min(tables.size(), static_cast<std::size_t>(bytes_for(k_))));
  }

  // The slot, M key.
  template <int kWords>
  std::uint64_t position(const Key<kWords>& key) const {
    return forward_(key);
  }

  template <int kWords>
  Key<kWords> encode(const Key<kWords>& key) const {
    if (keeps_keys()) return key;
    const int r = size_bits();
    Key<kWords> high;
    high.word[kWords - 1] = position(key);
    Key<kWords> sort_key = shift_left(high, 2 * k_ - r);
    const Key<kWords> low = shift_right(key, r);
    for (std::size_t w = 0; w < kWords; ++w) sort_key.word[w] |= low.word[w];
    return sort_key;
  }

  template <int kWords>
  Key<kWords> decode(const Key<kWords>& sort_key) const {
    if (keeps_keys()) return sort_key;
    Key<kWords> key = shift_left(sort_key, size_bits());
    for (int w = 0; w < kWords; ++w)  // cuts off the pos that was displaced
      key.word[static_cast<std::size_t>(w)] &= word_mask<kWords>(w);
    key.word[kWords - 1] |= backward_(sort_key);
    return key;
  }

  // The same for some at a time, in place.
  template <int kWords>
  void encode(KeyBatch<kWords>& keys) const {
    if (keeps_keys()) return;
    alignas(64) std::uint64_t positions[KeyBatch<kWords>::kSize];
    forward_(keys, positions);
    const int r = size_bits();
    for (std::size_t w = kWords; w-- > 1;)
      for (std::size_t i = 0; i < keys.n; ++i)
        keys.word[w][i] = keys.word[w][i] >> r | keys.word[w - 1][i] << (64 - r);
    for (std::size_t i = 0; i < keys.n; ++i) keys.word[0][i] >>= r;
    const int up = (2 * k_ - r) % 64;
    const auto low = static_cast<std::size_t>(kWords - 1 - (2 * k_ - r) / 64);
    for (std::size_t i = 0; i < keys.n; ++i) keys.word[low][i] |= positions[i] << up;
    if (low > 0 && up > 0)
      for (std::size_t i = 0; i < keys.n; ++i) keys.word[low - 1][i] |= positions[i] >> (64 - up);
  }

  template <int kWords>
  void decode(KeyBatch<kWords>& sort_keys) const {
    if (keeps_keys()) return;
    alignas(64) std::uint64_t low[KeyBatch<kWords>::kSize];
    backward_(sort_keys, low);
    const int r = size_bits();
    for (int w = 0; w < kWords; ++w) {
      const std::uint64_t mask = word_mask<kWords>(w);
      std::uint64_t* const word = sort_keys.word[w];
      const std::uint64_t* const from = w + 1 < kWords ? sort_keys.word[w + 1] : nullptr;
      for (std::size_t i = 0; i < sort_keys.n; ++i) {
        const std::uint64_t moved = word[i] << r | (from != nullptr ? from[i] >> (64 - r) : low[i]);
        word[i] = moved & mask;
      }
    }
  }

 private:
  // The bits of a key in its word w.
  template <int kWords>
  std::uint64_t word_mask(int w) const {
    const int n_bits = 2 * k_ - 64 * (kWords - 1 - w);
    if (n_bits >= 64) return ~std::uint64_t{0};
    return n_bits <= 0 ? 0 : (std::uint64_t{1} << n_bits) - 1;
  }

  int k_ = 0;
  bool unordered_ = false;
  bool identity_ = false;
  BitMatrix matrix_;
  BitMatrix inverse_;
  BitProduct forward_;   // key -> pos
  BitProduct backward_;  // sort key -> low bits of the key
};

}  // namespace biogpu::kmer
