#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {

// Of word w of a key.
constexpr std::uint64_t hash_factor(std::size_t w) {
  return 0x9e3779b97f4a7c15u * (2 * w + 1) ^ 0xd6e8feb86659fd92u * w;
}

// Its high bits depend on all bits of the key.
template <int kWords>
std::uint64_t hash_key(const Key<kWords>& key) {
  std::uint64_t hash = 0;
  for (std::size_t w = 0; w < kWords; ++w) hash += key.word[w] * hash_factor(w);
  return hash;
}

// Counts keys by open addressing; made to lie in the second-level cache. A key goes to the first
// slot that is empty of the group that its hash names, or of a later group. Each slot has a tag of
// its key's hash, so that one comparison of vectors finds a key in its group (as in the Swiss
// tables of Abseil). Slots are filled in order, and are never emptied: a key is in no later group
// than one that has an empty slot.
template <int kWords>
class CountHashTable {
 public:
  static constexpr std::size_t kGroup = 16;

  // Empties the table and makes room for about so many keys.
  void reset(std::size_t n_expected) {
    carries_.clear();
    resize((n_expected * 9 / 5) / kGroup + 1);
  }

  std::size_t size() const { return n_keys_; }

  // Before up to n keys are added.
  void make_room(std::size_t n) {
    while ((n_keys_ + n) * 4 > tags_.size() * 3) grow();
  }

  // visit(key, count) for each key, in no order.
  template <class Visit>
  void for_each(Visit&& visit) {
    std::sort(carries_.begin(), carries_.end());
    for (std::size_t slot = 0; slot < tags_.size(); ++slot)
      if (tags_[slot] != 0) visit(keys_[slot], counts_[slot] + carried(keys_[slot]));
  }

  // What count_windows() adds by itself: slots of one group after another, valid until
  // make_room().
  struct Slots {
    std::uint16_t* tags;  // 0: empty
    Key<kWords>* keys;
    std::uint16_t* counts;  // modulo 2^16: see carry()
    std::size_t n_groups;

    static std::uint16_t tag_of(std::uint64_t hash) {
      return static_cast<std::uint16_t>(hash >> 16 | 0x8000);
    }
    std::size_t group_of(std::uint64_t hash) const { return (hash >> 32) * n_groups >> 32; }

    // The key's slot, or the empty one where it belongs.
    [[gnu::noinline]] std::size_t find(const Key<kWords>& key) const {
      const std::uint64_t hash = hash_key(key);
      const std::uint16_t tag = tag_of(hash);
      std::size_t slot = group_of(hash) * kGroup;
      while (tags[slot] != 0 && (tags[slot] != tag || keys[slot] != key))
        if (++slot == n_groups * kGroup) slot = 0;
      return slot;
    }
  };
  Slots slots() { return {tags_.data(), keys_.data(), counts_.data(), n_groups_}; }
  // The key's count came to 2^16, and is 0 in its slot.
  [[gnu::noinline]] void carry(const Key<kWords>& key) { carries_.push_back(key); }
  void note_new(std::size_t n_keys) { n_keys_ += n_keys; }

 private:
  void resize(std::size_t n_groups) {
    n_keys_ = 0;
    n_groups_ = n_groups;
    tags_.assign(n_groups * kGroup, 0);
    counts_.assign(n_groups * kGroup, 0);
    keys_.resize(n_groups * kGroup);
  }

  void grow() {
    std::vector<std::uint16_t> tags;
    std::vector<std::uint16_t> counts;
    std::vector<Key<kWords>> keys;
    tags.swap(tags_);
    counts.swap(counts_);
    keys.swap(keys_);
    const std::size_t n_keys = n_keys_;
    resize(2 * n_groups_);
    for (std::size_t from = 0; from < tags.size(); ++from) {
      if (tags[from] == 0) continue;
      const std::size_t to = slots().find(keys[from]);
      tags_[to] = tags[from];
      counts_[to] = counts[from];
      keys_[to] = keys[from];
    }
    n_keys_ = n_keys;
  }

  std::uint64_t carried(const Key<kWords>& key) const {
    if (carries_.empty()) return 0;
    const auto [first, last] = std::equal_range(carries_.begin(), carries_.end(), key);
    return static_cast<std::uint64_t>(last - first) << 16;
  }

  std::size_t n_groups_ = 0;
  std::size_t n_keys_ = 0;
  std::vector<std::uint16_t> tags_;
  std::vector<std::uint16_t> counts_;  // modulo 2^16
  std::vector<Key<kWords>> keys_;
  std::vector<Key<kWords>> carries_;  // a key for each time that its count came to 2^16
};

}  // namespace biogpu::kmer
