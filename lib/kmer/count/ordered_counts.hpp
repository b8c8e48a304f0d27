#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "lib/kmer/count/bin_store.hpp"
#include "lib/kmer/count/count_block.hpp"
#include "lib/kmer/count/lender.hpp"
#include "lib/kmer/count/radix_sort.hpp"
#include "lib/kmer/order/key_order.hpp"

namespace biogpu::kmer {

// Brings keys and counts into an order. Threads file them into buckets by the highest bits of their
// place; buckets are sorted one by one, when they are asked for, and the counts of equal keys added
// up. An entry is stored as the rest of the place, its low byte first, and the count, 7 bits a
// byte.
class OrderedCounts {
 public:
  OrderedCounts(const KeyOrder& order, BlockPool& pool, SpillFile& spill, std::uint64_t max_bytes)
      : order_(order),
        bucket_bits_(std::min(kMaxBucketBits, 2 * order.k())),
        rest_bits_(2 * order.k() - bucket_bits_),
        rest_bytes_(static_cast<std::size_t>(rest_bits_ + 7) / 8),
        store_(std::size_t{1} << bucket_bits_, pool, spill, max_bytes) {}

  // file(write) for one thread, which calls write(key, count) for each of its entries.
  template <int kWords, class File>
  void add(File&& file) {
    add_places<kWords>([&](auto&& write_place) {
      file([&](const Key<kWords>& key, std::uint64_t count) {
        write_place(order_.place(key), count);
      });
    });
  }
  // The same for keys that are places already.
  template <int kWords, class File>
  void add_places(File&& file) {
    writers_.with(
        [&] { return BinStore::Writer(store_); },
        [&](BinStore::Writer& writer) {
          file([&](const Key<kWords>& place, std::uint64_t count) { write(place, count, writer); });
        });
  }
  // Called once, between the last add() and the first take().
  void finish() {
    for (BinStore::Writer& writer : writers_.all()) writer.finish();
  }

  std::size_t n_blocks() const { return store_.n_bins(); }

  // The keys of a bucket in order. Any thread; each bucket once.
  template <int kWords>
  void take(std::size_t bucket, CountBlock& block) {
    take_as<kWords>(bucket, block, [&](const Key<kWords>& place) { return order_.restore(place); });
  }
  // The same with places instead of keys.
  template <int kWords>
  void take_places(std::size_t bucket, CountBlock& block) {
    take_as<kWords>(bucket, block, [](const Key<kWords>& place) { return place; });
  }

 private:
  static constexpr int kMaxBucketBits = 10;
  static constexpr std::size_t kMaxCountBytes = 10;
  // What a bucket's next entries will need: too many are written by turns for the machine to see
  // it.
  static constexpr std::size_t kAhead = 128;

  template <int kWords>
  struct Scratch {
    std::vector<PlacedCount<kWords>> entries;
    std::vector<std::uint64_t> ranks;
    std::vector<std::uint64_t> spare;
  };

  template <int kWords, class Restore>
  void take_as(std::size_t bucket, CountBlock& block, Restore&& restore) {
    std::get<Lender<Scratch<kWords>>>(scratch_).with([] { return Scratch<kWords>(); },
                                                     [&](Scratch<kWords>& mine) {
                                                       read<kWords>(bucket, mine.entries);
                                                       store_.drop(bucket);
                                                       rank_by_place(mine.entries, rest_bits_,
                                                                     mine.ranks, mine.spare);
                                                       list(mine, block, restore);
                                                     });
  }

  // Makes block the entries in the order of their ranks.
  template <int kWords, class Restore>
  void list(const Scratch<kWords>& from, CountBlock& block, Restore&& restore) const {
    const std::size_t n_entries = from.entries.size();
    const std::uint64_t index_mask = (std::uint64_t{1} << index_bits(n_entries)) - 1;
    block.clear(kWords);
    block.keys.resize(n_entries * kWords);
    block.counts.resize(n_entries);
    const PlacedCount<kWords>* last = nullptr;
    std::size_t n = 0;
    for (const std::uint64_t rank : from.ranks) {
      const PlacedCount<kWords>& entry = from.entries[rank & index_mask];
      if (last != nullptr && last->place == entry.place) {
        block.counts[n - 1] += entry.count;
        continue;
      }
      const Key<kWords> key = restore(entry.place);
      std::copy_n(key.word.begin(), kWords, block.keys.data() + n * kWords);
      block.counts[n++] = entry.count;
      last = &entry;
    }
    block.keys.resize(n * kWords);
    block.counts.resize(n);
  }

  template <int kWords>
  void write(const Key<kWords>& place, std::uint64_t count, BinStore::Writer& writer) const {
    const auto bucket = static_cast<std::size_t>(place.bits_from(rest_bits_));
    char* const begin = writer.reserve(bucket, 8 * kWords + kMaxCountBytes);
    __builtin_prefetch(begin + kAhead, 1);
    for (std::size_t w = 0; w < kWords; ++w)
      std::memcpy(begin + 8 * w, &place.word[kWords - 1 - w], 8);
    char* at = begin + rest_bytes_;
    for (; count >= 0x80; count >>= 7) *at++ = static_cast<char>(count | 0x80);
    *at++ = static_cast<char>(count);
    writer.advance(bucket, static_cast<std::size_t>(at - begin));
  }

  template <int kWords>
  void read(std::size_t bucket, std::vector<PlacedCount<kWords>>& entries) const {
    entries.clear();
    entries.reserve(store_.n_records(bucket));
    Key<kWords> high;
    high.word[kWords - 1] = bucket;
    high = shift_left(high, rest_bits_);
    // Loads take whole words; what lies above rest_bits in the last one is the next field.
    const std::size_t n_words = (rest_bytes_ + 7) / 8;
    const int n_top = rest_bits_ - 64 * (static_cast<int>(n_words) - 1);
    const std::uint64_t mask = n_top >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_top) - 1;
    store_.read(bucket, [&](std::span<const char> records) {
      for (const char* at = records.data(); at < records.data() + records.size();) {
        PlacedCount<kWords> entry{high, 0};
        for (std::size_t w = 0; w < n_words; ++w) {
          std::uint64_t word;
          std::memcpy(&word, at + 8 * w, 8);
          entry.place.word[kWords - 1 - w] |= w + 1 == n_words ? word & mask : word;
        }
        at += rest_bytes_;
        int shift = 0;
        for (; (*at & 0x80) != 0; shift += 7)
          entry.count |= static_cast<std::uint64_t>(*at++ & 0x7f) << shift;
        entry.count |= static_cast<std::uint64_t>(*at++) << shift;
        entries.push_back(entry);
      }
    });
  }

  const KeyOrder order_;
  const int bucket_bits_;
  const int rest_bits_;
  const std::size_t rest_bytes_;
  BinStore store_;
  Lender<BinStore::Writer> writers_;  // after the store that they write to
  std::tuple<Lender<Scratch<1>>, Lender<Scratch<2>>, Lender<Scratch<4>>, Lender<Scratch<8>>>
      scratch_;
};

}  // namespace biogpu::kmer
