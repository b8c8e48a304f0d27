#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/store/ordered_counts.hpp"

namespace biogpu::kmer {

// Counts on one or more GPUs. Each device counts its share of the k-mers; it holds its share of the
// texts, where devices can send k-mers to each other, or else all. Up to k = 32 devices give them
// back in order; above, and where a text fills a device and is counted in parts, the host orders
// them and adds up.
class MultiGpuCounter : public Counter {
 public:
  MultiGpuCounter(const CountOptions& options, const std::vector<int>& devices,
                  std::uint64_t max_device_bytes);

  void add(const FeedSequences& feed) override;
  // A text as TextPacker makes it: at most DeviceCounter::kMaxLetters, the last one no base.
  void add(const PackedText& text);
  void finish() override;
  bool next(Bucket& bucket) override;
  void fetch(Bucket& bucket) override;

  CountTotals totals() const override { return {totals_.n_windows, n_distinct_}; }
  std::optional<DeviceUsage> device_usage() const override;

 private:
  // Adds to one device, another one each time; false where all are full.
  bool fill_one(const PackedText& text);
  // Counts on all devices what they hold.
  void prepare();
  // Adds to the devices from number `at` on; false where one was full, which `at` then tells.
  bool fill_from(std::size_t& at, const PackedText& text);
  void decode(const DeviceCounter::Block& sorted, CountBlock& counts) const;
  bool keeps_all() const;
  void drain();
  template <int kWords>
  void drain_into_parts(DeviceCounter& counter);

  const CountOptions options_;
  TextPacker packer_;
  std::vector<std::unique_ptr<DeviceCounter>> devices_;
  bool shares_texts_ = false;
  std::atomic<std::size_t> n_texts_{0};
  std::shared_mutex filling_;  // held alone while the devices are emptied
  std::size_t next_device_ = 0;
  SpillFile spill_;
  BlockPool pool_;
  std::unique_ptr<OrderedCounts> parts_;  // where the host orders
  std::size_t next_bucket_ = 0;
  CountTotals totals_;
  std::atomic<std::uint64_t> n_distinct_{0};
};

}  // namespace biogpu::kmer
