#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/align/cells.hpp"
#include "gpu/align/kernel_choice.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::align {

// One pair to be aligned, on the host. Borrowed until the batch was collected. The ids tell equal
// sequences apart from different ones: a batch uploads each id once.
struct PairInput {
  std::span<const std::uint8_t> query;   // residue classes, not empty
  std::span<const std::uint8_t> target;  // residue classes, not empty
  std::uint32_t query_id = 0;
  std::uint32_t target_id = 0;
  KernelChoice kernel;
};

// One batch on its own stream: staged in pinned memory, copied, computed and copied back while
// other batches do the same. Errors are DeviceError.
class PairBatch {
 public:
  explicit PairBatch(const BatchSettings& settings) : settings_(settings) {}

  // Device memory for the batches to come; what was submitted is lost.
  void reserve(std::uint64_t bytes);
  std::uint64_t device_bytes() const { return arena_.capacity_bytes(); }

  // Queues the work. pairs: those of one kernel, shape and number of tiles together, the longest
  // target first; their pair_bytes() within reserve().
  void submit(std::span<const PairInput> pairs);

  // Waits; the results stay valid until the next submit(), in the order of the pairs.
  void collect();
  std::span<const PairEnd> ends() const { return {ends_.data(), n_pairs_}; }
  std::span<const PairPath> paths() const { return {paths_.data(), with_path() ? n_pairs_ : 0}; }
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
  // Elements of the arrays that differ from batch to batch.
  struct Extents {
    std::uint64_t residues = 0, borders = 0, trace = 0, runs = 0;
  };
  // First offset of a sequence in the batch, by id; valid where epoch is that of the batch.
  struct Place {
    std::uint32_t epoch = 0;
    std::uint64_t offset = 0;
  };

  bool with_path() const { return settings_.with_path; }
  Extents stage(std::span<const PairInput> pairs);
  std::uint64_t place(std::vector<Place>& places, std::uint32_t id,
                      std::span<const std::uint8_t> sequence, std::uint64_t& used);
  DeviceArrays carve(const Extents& extents);
  void launch(std::size_t first, std::size_t n, const KernelChoice& kernel,
              const DeviceArrays& device);

  BatchSettings settings_;
  Arena arena_;
  std::uint32_t epoch_ = 0;
  std::vector<Place> query_places_, target_places_;
  std::vector<std::span<const std::uint8_t>> sequences_;  // to be copied, in order
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
  Stream stream_;  // last: its destruction waits for work on all of the above
};

}  // namespace biogpu::gpu::align
