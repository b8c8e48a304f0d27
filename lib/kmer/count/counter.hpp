#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lib/io/sequence_batch.hpp"
#include "lib/kmer/count/count_block.hpp"
#include "lib/kmer/order/key_order.hpp"

namespace biogpu::kmer {

struct CountOptions {
  int k = 0;                // 1 to kMaxK
  bool canonical = false;   // the smaller of a k-mer and its reverse complement stands for both
  char least_quality = 0;   // a base with a lower quality symbol counts as N; 0: all bases count
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

// Counts k-mers exactly, in three steps: add() files super-k-mers into bins by their minimizer,
// count_bins() counts one bin after another and files the distinct k-mers into buckets by their
// place in the order, take_block() sorts a bucket. The blocks one after another are the database;
// they do not depend on threads, batches or max_memory. docs/design/kmer.md has the figures.
class Counter {
 public:
  explicit Counter(const CountOptions& options);
  ~Counter();
  Counter(Counter&&) noexcept;
  Counter& operator=(Counter&&) noexcept;

  // Any thread, many at a time. quality may be empty.
  void add(const io::SequenceBatch& batch);
  // The same for sequences that are not in a batch: read(add) calls add for each.
  using Add = std::function<void(std::string_view sequence, std::string_view quality)>;
  void add(const std::function<void(const Add& add)>& read);
  // Called once, after the last add().
  void count_bins();

  std::size_t n_blocks() const;
  // Any thread; each block once. Keys ascend by options.order from block to block.
  void take_block(std::size_t index, CountBlock& block);

  CountTotals totals() const;
  std::uint64_t spilled_bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::kmer
