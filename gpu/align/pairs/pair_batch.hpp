#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/align/cells.hpp"
#include "gpu/align/pairs/kernel_choice.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::align {

// Pairs [first, first + n) of a batch, which one kernel computes.
struct BatchSegment {
  std::size_t first = 0;
  std::size_t n = 0;
  KernelChoice kernel;
};

// Elements of the arrays that differ from batch to batch.
struct BatchExtents {
  std::uint64_t residues = 0, borders = 0, trace = 0, runs = 0;
};

// One batch on its own stream: staged in pinned memory by the caller, copied, computed and copied
// back while other batches do the same. Errors are DeviceError.
class PairBatch {
 public:
  explicit PairBatch(const BatchSettings& settings) : settings_(settings) {}

  // Device memory for the batches to come; what was submitted is lost.
  void reserve(std::uint64_t bytes);
  std::uint64_t device_bytes() const { return arena_.capacity_bytes(); }

  // Makes room for a batch. The caller then fills tasks() and residues(), from any thread.
  void begin(std::size_t n_pairs, const BatchExtents& extents);
  std::uint8_t* residues() { return residues_.data(); }
  PairTask* tasks() { return tasks_.data(); }

  // Queues the work. Inside a segment the longest targets are first.
  void submit(std::span<const BatchSegment> segments);

  // Waits; the results stay valid until the next begin(), in the order of the tasks.
  void collect();
  std::span<const PairEnd> ends() const { return {ends_.data(), n_pairs_}; }
  std::span<const PairPath> paths() const {
    return {paths_.data(), settings_.with_path ? n_pairs_ : 0};
  }
  std::span<const std::uint32_t> runs() const { return {runs_.data(), n_runs_}; }
  double device_seconds() const { return seconds_; }  // kernels of the last batch collected

 private:
  struct DeviceArrays {
    std::uint8_t* residues = nullptr;
    PairTask* tasks = nullptr;
    BorderCell* borders = nullptr;
    std::uint32_t* trace = nullptr;
    std::uint32_t* scratch_runs = nullptr;
    std::uint32_t* runs = nullptr;
    std::uint32_t* n_runs = nullptr;
    PairEnd* ends = nullptr;
    PairPath* paths = nullptr;
  };

  // Where the second and later segments run.
  struct SideStream {
    Event done;
    Stream stream;
  };

  DeviceArrays carve();
  void launch(const BatchSegment& segment, const DeviceArrays& device, Stream& stream);

  BatchSettings settings_;
  BatchExtents extents_;
  Arena arena_;
  PinnedBuffer<std::uint8_t> residues_;
  PinnedBuffer<PairTask> tasks_;
  PinnedBuffer<PairEnd> ends_;
  PinnedBuffer<PairPath> paths_;
  PinnedBuffer<std::uint32_t> n_runs_host_;
  PinnedBuffer<std::uint32_t> runs_;
  const std::uint32_t* runs_on_device_ = nullptr;
  std::size_t n_pairs_ = 0;
  std::size_t n_runs_ = 0;
  double seconds_ = 0;
  Event start_, stop_;
  std::vector<SideStream> side_streams_;
  Stream stream_;  // last: its destruction waits for work on all of the above
};

}  // namespace biogpu::gpu::align
