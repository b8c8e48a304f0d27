#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

#include "lib/core/object_pool.hpp"
#include "lib/kmer/key/bit_product.hpp"
#include "lib/kmer/key/count_block.hpp"
#include "lib/kmer/key/key_order.hpp"
#include "lib/kmer/store/bin_store.hpp"
#include "lib/kmer/store/radix_sort.hpp"

namespace biogpu::kmer {

// Brings keys and counts into an order. Threads file them into buckets by the highest bits of their
// sort key; buckets are sorted one by one, when they are asked for, and the counts of equal keys
// added up. An entry is stored as the rest of the sort key, its low byte first, and the count in
// the bits that the last byte has left; where they are all set, what the count is above them
// follows, 7 bits a byte.
class OrderedCounts {
 public:
  OrderedCounts(const KeyOrder& order, BlockPool& pool, SpillFile& spill, std::uint64_t max_bytes)
      : order_(order),
        bucket_bits_(std::min(kMaxBucketBits, 2 * order.k())),
        rest_bits_(2 * order.k() - bucket_bits_),
        rest_bytes_(static_cast<std::size_t>(rest_bits_ + 7) / 8),
        largest_short_((1u << (8 * static_cast<int>(rest_bytes_) - rest_bits_)) - 1),
        store_(std::size_t{1} << bucket_bits_, pool, spill, max_bytes) {}

  // file(write) for one thread, which calls write(key, count) for each of its entries.
  template <int kWords, class File>
  void add(File&& file) {
    file_all<kWords>(file, [&](KeyBatch<kWords>& keys) { order_.encode(keys); });
  }
  // The same for keys that are sort keys already.
  template <int kWords, class File>
  void add_sort_keys(File&& file) {
    file_all<kWords>(file, [](KeyBatch<kWords>&) {});
  }
  // Called once, between the last add() and the first take().
  void finish() {
    for (BinStore::Writer& writer : writers_.all()) writer.finish();
  }

  std::size_t n_blocks() const { return store_.n_bins(); }

  // The keys of a bucket in order. Any thread; each bucket once.
  template <int kWords>
  void take(std::size_t bucket, CountBlock& block) {
    auto& pool = std::get<ObjectPool<Scratch<kWords>>>(scratch_);
    Scratch<kWords>& mine = pool.acquire();
    read<kWords>(bucket, mine.entries);
    store_.drop(bucket);
    rank_by_sort_key(mine.entries, rest_bits_, mine.ranks, mine.spare);
    list(mine, block);
    pool.release(mine);
  }

 private:
  static constexpr int kMaxBucketBits = 10;
  static constexpr std::size_t kMaxCountBytes = 10;
  // What a bucket's next entries will need: too many are written by turns for the machine to see
  // it.
  static constexpr std::size_t kAhead = 128;

  template <int kWords>
  struct Scratch {
    std::vector<SortKeyCount<kWords>> entries;
    std::vector<std::uint64_t> ranks;
    std::vector<std::uint64_t> spare;
  };

  // Makes block the entries in the order of their ranks.
  template <int kWords>
  void list(const Scratch<kWords>& from, CountBlock& block) const {
    const std::size_t n_entries = from.entries.size();
    const std::uint64_t index_mask = (std::uint64_t{1} << index_bits(n_entries)) - 1;
    block.clear(kWords);
    block.keys.resize(n_entries * kWords);
    block.counts.resize(n_entries);
    KeyBatch<kWords> batch;
    std::uint64_t* key = block.keys.data();
    const auto list_batch = [&] {
      order_.decode(batch);
      for (std::size_t i = 0; i < batch.n; ++i)
        for (std::size_t w = 0; w < kWords; ++w) *key++ = batch.word[w][i];
      batch.n = 0;
    };
    const SortKeyCount<kWords>* last = nullptr;
    std::size_t n = 0;
    for (const std::uint64_t rank : from.ranks) {
      const SortKeyCount<kWords>& entry = from.entries[rank & index_mask];
      if (last != nullptr && last->sort_key == entry.sort_key) {
        block.counts[n - 1] += entry.count;
        continue;
      }
      batch.push(entry.sort_key);
      if (batch.n == KeyBatch<kWords>::kSize) list_batch();
      block.counts[n++] = entry.count;
      last = &entry;
    }
    list_batch();
    block.keys.resize(n * kWords);
    block.counts.resize(n);
  }

  template <int kWords, class File, class Encode>
  void file_all(File&& file, Encode&& encode) {
    BinStore::Writer& writer = writers_.acquire(store_);
    KeyBatch<kWords> batch;
    std::array<std::uint64_t, KeyBatch<kWords>::kSize> counts;
    const auto write_batch = [&] {
      encode(batch);
      for (std::size_t i = 0; i < batch.n; ++i) write<kWords>(batch.key(i), counts[i], writer);
      batch.n = 0;
    };
    file([&](const Key<kWords>& key, std::uint64_t count) {
      counts[batch.n] = count;
      batch.push(key);
      if (batch.n == KeyBatch<kWords>::kSize) write_batch();
    });
    write_batch();
    writers_.release(writer);
  }

  template <int kWords>
  void write(const Key<kWords>& sort_key, std::uint64_t count, BinStore::Writer& writer) const {
    const auto bucket = static_cast<std::size_t>(sort_key.bits_from(rest_bits_));
    char* const begin = writer.reserve(bucket, 8 * kWords + kMaxCountBytes);
    __builtin_prefetch(begin + kAhead, 1);
    for (std::size_t w = 0; w < kWords; ++w)
      std::memcpy(begin + 8 * w, &sort_key.word[kWords - 1 - w], 8);
    char* at = begin + rest_bytes_;
    const std::uint64_t in_last = std::min(count, largest_short_);
    if (rest_bits_ % 8 != 0) {
      const unsigned rest = static_cast<unsigned char>(at[-1]) & ((1u << rest_bits_ % 8) - 1);
      at[-1] = static_cast<char>(rest | in_last << rest_bits_ % 8);
    }
    if (in_last == largest_short_) {
      for (count -= in_last; count >= 0x80; count >>= 7) *at++ = static_cast<char>(count | 0x80);
      *at++ = static_cast<char>(count);
    }
    writer.advance(bucket, static_cast<std::size_t>(at - begin));
  }

  template <int kWords>
  void read(std::size_t bucket, std::vector<SortKeyCount<kWords>>& entries) const {
    entries.resize(store_.n_records(bucket));
    SortKeyCount<kWords>* to = entries.data();
    Key<kWords> high;
    high.word[kWords - 1] = bucket;
    high = shift_left(high, rest_bits_);
    // Loads take whole words; what lies above rest_bits in the last one is the next field.
    const std::size_t n_words = (rest_bytes_ + 7) / 8;
    const int n_top = rest_bits_ - 64 * (static_cast<int>(n_words) - 1);
    const std::uint64_t mask = n_top >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_top) - 1;
    store_.read(bucket, [&](std::span<const char> records) {
      for (const char* at = records.data(); at < records.data() + records.size(); ++to) {
        to->sort_key = high;
        for (std::size_t w = 0; w < n_words; ++w) {
          std::uint64_t word;
          std::memcpy(&word, at + 8 * w, 8);
          to->sort_key.word[kWords - 1 - w] |= w + 1 == n_words ? word & mask : word;
        }
        at += rest_bytes_;
        to->count =
            rest_bits_ % 8 == 0
                ? 0
                : static_cast<std::uint64_t>(static_cast<unsigned char>(at[-1])) >> rest_bits_ % 8;
        if (to->count != largest_short_) continue;
        int shift = 0;
        for (; (*at & 0x80) != 0; shift += 7)
          to->count += static_cast<std::uint64_t>(*at++ & 0x7f) << shift;
        to->count += static_cast<std::uint64_t>(*at++) << shift;
      }
    });
  }

  const KeyOrder order_;
  const int bucket_bits_;
  const int rest_bits_;
  const std::size_t rest_bytes_;
  const std::uint64_t largest_short_;  // count in the last byte
  BinStore store_;
  ObjectPool<BinStore::Writer> writers_;  // after the store that they write to
  std::tuple<ObjectPool<Scratch<1>>, ObjectPool<Scratch<2>>, ObjectPool<Scratch<4>>,
             ObjectPool<Scratch<8>>>
      scratch_;
};

}  // namespace biogpu::kmer
