#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/count/ordered_counts.hpp"
#include "lib/kmer/gpu_counter.hpp"

namespace biogpu::kmer {

// Counts on one or more GPUs, for k up to kMaxGpuK; what Counter is for the CPU. Each device holds
// the text and counts its share of the places. A text that fills a device is counted in parts,
// which are added up on the host.
class GpuCounting {
 public:
  GpuCounting(const CountOptions& options, const std::vector<int>& devices,
              std::uint64_t max_device_bytes);

  // Letters with a byte that is no base behind each sequence. One thread at a time.
  void add(std::string_view letters);
  // Called once, after the last add().
  void finish();

  // The next places and counts, in order; false at the end. One thread.
  bool next(CountBlock& places);
  // Turns places into keys and leaves out what options does. Any thread.
  void restore(CountBlock& block) const;

  CountTotals totals() const { return totals_; }
  GpuCountTimes times() const;  // of the device that was busy longest
  std::uint64_t peak_device_bytes() const;

 private:
  void drain();

  const CountOptions options_;
  std::vector<std::unique_ptr<GpuCounter>> counters_;
  std::size_t next_counter_ = 0;
  SpillFile spill_;
  BlockPool pool_;
  std::unique_ptr<OrderedCounts> parts_;  // where the text was counted in parts
  std::size_t next_bucket_ = 0;
  CountTotals totals_;
};

}  // namespace biogpu::kmer
