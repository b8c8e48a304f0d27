#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kmer/lookup/lookup.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/core/object_pool.hpp"

namespace biogpu::gpu::kmer {

struct LookupTableOptions {
  int k = 0;
  int n_words = 1;
  int size_bits = 0;                  // of the order, 0: sort keys are keys
  std::vector<std::uint64_t> tables;  // [n][256], as KeyOrder makes them
  std::uint64_t n_keys = 0;           // that will be added, below 2^32
};

// A database on the device that was current when this was made. Errors:
// DeviceError{out_of_memory}.
class LookupTable {
 public:
  explicit LookupTable(const LookupTableOptions& options);

  // Adds keys, n_words words each, the most significant first. They come in the order of their
  // sort keys, as a database holds them. One thread.
  void append(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> counts);
  // Called once, after the last append().
  void finish();

  // counts[i] of the key at keys + i * n_words, 0 where it is absent. Any thread, many at a time.
  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts);

  std::uint64_t n_keys() const { return n_; }
  double find_s()
      const;  // device seconds of the look-ups alone, summed over all threads; after them

 private:
  // What one thread looks up with.
  struct Lane {
    Stream stream;
    PinnedBuffer<std::uint64_t> host_keys, host_counts;
    DeviceBuffer<std::uint64_t> keys, counts;
    double find_s = 0;
  };

  KeyRule rule() const;
  SortKeyTable table() const;
  void find_batch(const std::uint64_t* keys, std::span<std::uint64_t> counts, Lane& lane);

  const LookupTableOptions options_;
  Stream stream_;
  DeviceBuffer<std::uint64_t> tables_;
  DeviceBuffer<std::uint64_t> sort_keys_;
  DeviceBuffer<std::uint64_t> counts_;
  DeviceBuffer<std::uint32_t> begins_;
  int index_bits_ = 1;
  std::uint64_t n_ = 0;
  ObjectPool<Lane> lanes_;
};

}  // namespace biogpu::gpu::kmer
