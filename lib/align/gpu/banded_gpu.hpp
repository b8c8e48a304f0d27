#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/align/banded/banded_batch.hpp"
#include "lib/align/align.hpp"

namespace biogpu::align {

// Aligns pairs within a band, or as extensions with X-drop, or both, on the current device: only
// the cells that take part are filled. Batches follow the input; a pair whose trace does not fit
// the device is aligned on the CPU. Everything around the kernels is done on all threads of the
// calling task arena.
class BandedAligner {
 public:
  BandedAligner(const Options& options, const gpu::align::BatchSettings& settings);

  // max_bytes: device memory, of all batches in flight together.
  Alignments align(const Work& work, std::uint64_t max_bytes);

  double device_seconds() const { return seconds_; }  // of all calls
  std::uint64_t peak_device_bytes() const { return peak_bytes_; }
  void release();

 private:
  static constexpr std::size_t kInFlight = 2;
  class Batch;

  void run(const Work& work, std::uint64_t max_bytes, gpu::align::BandedOutput asked,
           Alignments& all);
  void align_on_cpu(const Work& work, std::size_t index, Alignments& all) const;

  Options options_;
  gpu::align::BatchSettings settings_;
  std::array<std::unique_ptr<gpu::align::BandedBatch>, kInFlight> slots_;
  // Chunks of the trace of each pair of the call, where the windows have to be seen to know them.
  std::vector<std::uint32_t> n_chunks_;
  double seconds_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace biogpu::align
