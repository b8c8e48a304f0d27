#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gpu/kmer/distinct/bins.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

// Counts values bin by bin in shared memory. Its device memory stays from one list to the next, and
// belongs to the device that was current when it was made.
class BinList {
 public:
  BinList();

  // The bits that n values are to be cut into bins by, so that most bins fit a table.
  int bits_for(std::uint64_t n) const;

  // Replaces values[n], of which the first n_first and the others are each sorted by their bits
  // from rest_bits on, and spread evenly below, by the distinct ones in ascending order; returns
  // how many. Nothing, and values are as they were, where a bin does not fit a table. spare[n] is
  // room to work in; values are below n_bins << rest_bits.
  std::optional<std::uint64_t> count(std::uint64_t* values, std::uint64_t n_first, std::uint64_t n,
                                     int rest_bits, std::uint32_t n_bins, std::uint64_t* spare,
                                     Stream& stream);

  // How often each distinct value occurs.
  const std::uint32_t* counts() const { return counts_.data(); }
  std::uint64_t bytes() const { return in_bins_.bytes() + counts_.bytes(); }

 private:
  bool count_all(BinsArgs args, Stream& stream);

  int table_bits_ = 0;                  // of the larger table that a block can have
  DeviceBuffer<std::uint64_t> begins_;  // of bins, twice
  DeviceBuffer<std::uint64_t> distinct_begins_;
  DeviceBuffer<std::uint32_t> n_distinct_;  // of bins
  DeviceBuffer<std::uint32_t> left_;
  DeviceBuffer<std::uint32_t> left_again_;
  DeviceBuffer<std::uint32_t> n_left_;   // one: how many bins were left uncounted
  DeviceBuffer<std::uint32_t> in_bins_;  // counts, where the bins' values lay
  DeviceBuffer<std::uint32_t> counts_;
};

}  // namespace biogpu::gpu::kmer
