#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/kmer/key.hpp"

namespace biogpu::kmer {

template <int kWords>
std::uint64_t hash_key(const Key<kWords>& key) {
  std::uint64_t h = 0;
  for (const std::uint64_t word : key.word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    if constexpr (kWords > 1) h ^= h >> 32;
  }
  return kWords > 1 ? h * 0xd6e8feb86659fd93u : h;
}

// Counts keys by open addressing with linear probing; made to lie in the second-level cache. A slot
// is empty when its count is 0, so every key is allowed.
template <int kWords>
class CountTable {
 public:
  static constexpr std::size_t kBatch = 256;

  struct Slot {
    Key<kWords> key;
    std::uint64_t count = 0;
  };

  // Empties the table and makes room for about so many keys.
  void reset(std::size_t n_expected) {
    resize(std::bit_ceil(std::max<std::size_t>(2 * kBatch, n_expected + n_expected / 2)));
  }

  std::size_t size() const { return n_keys_; }
  std::span<const Slot> slots() const { return {slots_.data(), n_slots_}; }

  // Adds 1 to each key's count; at most kBatch keys.
  void add(std::span<const Key<kWords>> keys) {
    if ((n_keys_ + keys.size()) * 10 > n_slots_ * 7) grow();
    std::size_t home[kBatch];
    for (std::size_t i = 0; i < keys.size(); ++i) {
      home[i] = hash_key(keys[i]) >> shift_;
      __builtin_prefetch(&slots_[home[i]], 1);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Slot& slot = find(keys[i], home[i]);
      n_keys_ += slot.count == 0;
      slot.key = keys[i];
      ++slot.count;
    }
  }

 private:
  // The key's slot, or the empty one where it belongs.
  Slot& find(const Key<kWords>& key, std::size_t at) {
    while (slots_[at].count != 0 && slots_[at].key != key) at = (at + 1) & (n_slots_ - 1);
    return slots_[at];
  }

  void resize(std::size_t n_slots) {
    n_keys_ = 0;
    n_slots_ = n_slots;
    shift_ = 64 - std::countr_zero(n_slots);
    slots_.assign(n_slots, Slot{});
  }

  void grow() {
    std::vector<Slot> before;
    before.swap(slots_);
    const std::size_t n_keys = n_keys_;
    resize(2 * n_slots_);
    for (const Slot& slot : before)
      if (slot.count != 0) find(slot.key, hash_key(slot.key) >> shift_) = slot;
    n_keys_ = n_keys;
  }

  std::vector<Slot> slots_;
  std::size_t n_slots_ = 0;
  std::size_t n_keys_ = 0;
  int shift_ = 0;
};

}  // namespace biogpu::kmer
