#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/kmer/device/device_counter.hpp"
#include "lib/kmer/key/count_block.hpp"
#include "lib/kmer/key/key_order.hpp"
#include "lib/kmer/sequences/packed_text.hpp"

namespace biogpu::kmer {

struct CountOptions {
  int k = 0;               // 1 to kMaxK
  bool canonical = false;  // the smaller of a k-mer and its reverse complement stands for both
  char min_quality_symbol =
      0;                    // a base with a lower quality symbol counts as N; 0: all bases count
  std::uint64_t lower = 1;  // counts outside [lower, upper] are left out
  std::uint64_t upper = UINT64_MAX;
  KeyOrder order;
  int n_threads = 1;
  std::uint64_t max_memory = 0;  // bytes; 0: no bound
  std::string tmp_dir = "/tmp";  // for bins that exceed max_memory
};

// What was counted, whether within [lower, upper] or not.
struct CountTotals {
  std::uint64_t n_windows = 0;  // k-mers with multiplicity
  std::uint64_t n_distinct = 0;
};

// What devices did for a counter.
struct DeviceUsage {
  DeviceCountTimes times;  // of the device that was busy longest
  std::uint64_t peak_bytes = 0;
};

// Counts k-mers exactly: add() takes sequences, finish() counts them, next() and fetch() give the
// result back in buckets. The buckets one after another are the database; they do not depend on the
// device, on threads, on how sequences were added, or on memory bounds.
class Counter {
 public:
  virtual ~Counter() = default;

  // feed(add) calls add for each sequence. Any thread, many at a time.
  virtual void add(const FeedSequences& feed) = 0;
  // Called once, after the last add().
  virtual void finish() = 0;

  struct Bucket {
    std::size_t index = 0;        // from 0 on, in the order of the database
    CountBlock counts;            // written by fetch()
    DeviceCounter::Block sorted;  // what a device returned to next()
  };
  // The next bucket, to be passed to fetch(); false at the end. One thread.
  virtual bool next(Bucket& bucket) = 0;
  // Makes bucket.counts its distinct k-mers that the options keep, in order. Any thread; each
  // bucket once.
  virtual void fetch(Bucket& bucket) = 0;

  // After the last fetch().
  virtual CountTotals totals() const = 0;
  virtual std::uint64_t spilled_bytes() const { return 0; }
  virtual std::optional<DeviceUsage> device_usage() const { return std::nullopt; }
};

}  // namespace biogpu::kmer
