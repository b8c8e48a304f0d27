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
#include "lib/kmer/count/ordered_counts.hpp"
#include "lib/kmer/count/packed_text.hpp"
#include "lib/kmer/gpu_counter.hpp"

namespace biogpu::kmer {

// Counts on one or more GPUs; what Counter is for the CPU. Each device counts its share of the
// k-mers; it holds its share of the texts, where devices can send k-mers to each other, or else
// all. Up to k = 32 devices give them back in order; above, and where a text
// fills a device and is counted in parts, the host orders them and adds up.
class GpuCounting {
 public:
  GpuCounting(const CountOptions& options, const std::vector<int>& devices,
              std::uint64_t max_device_bytes);

  // At most GpuCounter::kMaxLetters, with a letter that is no base at the end, as TextPacker makes
  // them. Any thread, many at a time.
  void add(const PackedText& text);
  // Called once, after the last add().
  void finish();

  // A stretch of the result: places that a device ordered, or a bucket of the host's.
  struct Piece {
    GpuCounter::Block places;
    CountBlock block;
    std::size_t bucket = 0;
  };
  // The next piece; false at the end. One thread.
  bool next(Piece& piece);
  // Makes piece.block the distinct k-mers of it that the options keep, in order. Any thread.
  void restore(Piece& piece);

  CountTotals totals() const { return {totals_.n_windows, n_distinct_}; }
  GpuCountTimes times() const;  // of the device that was busy longest
  std::uint64_t peak_device_bytes() const;

 private:
  struct Device {
    std::unique_ptr<GpuCounter> counter;
  };

  // Adds to one device, another one each time; false where all are full.
  bool fill_one(const PackedText& text);
  // Counts on all devices what they hold.
  void prepare();
  // Adds to the devices from number `at` on; false where one was full, which `at` then tells.
  bool fill_from(std::size_t& at, const PackedText& text);
  void restore_places(const GpuCounter::Block& places, CountBlock& block) const;
  bool keeps_all() const;
  void drain();
  template <int kWords>
  void drain_into_parts(GpuCounter& counter);

  const CountOptions options_;
  std::vector<std::unique_ptr<Device>> devices_;
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
