#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kmer/distinct/runs.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::kmer {

// Where the runs of a sorted list begin and how long they are. Its device memory stays from one
// list to the next.
class RunList {
 public:
  // Lists the runs of args' input, and writes `distinct` where that is given; the other outputs are
  // set here. Returns how many there are, with the lists still queued.
  std::uint64_t list(RunsArgs args, Stream& stream);

  // Where each run begins in the sorted list, one entry more than there are runs.
  const std::uint64_t* begins() const { return begins_.data(); }
  // And how long it is.
  const std::uint32_t* lengths() const { return lengths_.data(); }

  std::uint64_t bytes() const { return begins_.bytes() + lengths_.bytes(); }

 private:
  DeviceBuffer<std::uint32_t> n_in_block_;
  DeviceBuffer<std::uint64_t> block_begin_;
  DeviceBuffer<std::uint64_t> begins_;
  DeviceBuffer<std::uint32_t> lengths_;
};

}  // namespace biogpu::gpu::kmer
