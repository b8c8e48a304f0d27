#pragma once

#include <cstdint>
#include <span>

#include "gpu/align/banded/banded_xdrop.hpp"
#include "gpu/align/cells.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::align {

// Elements of the arrays that differ from batch to batch.
struct BandedExtents {
  std::uint64_t residues = 0, ring_words = 0, lines = 0, chunks = 0, runs = 0;
};

// What a batch is asked for besides the scores and ends.
enum class BandedOutput {
  ends,      // nothing
  n_chunks,  // how many chunks a trace takes
  path,      // paths, and their runs where BatchSettings::with_runs
};

// One batch of pairs that are filled by anti-diagonals, on its own stream: staged in pinned memory
// by the caller, copied, computed and copied back while other batches do the same. Errors are
// DeviceError.
class BandedBatch {
 public:
  // Of settings the scheme and with_runs are used.
  BandedBatch(const BatchSettings& settings, int xdrop) : settings_(settings), xdrop_(xdrop) {}

  // Makes room for a batch. The caller then fills tasks() and residues(), from any thread: first
  // the n_wide pairs of wide windows, then the narrow ones.
  void begin(std::size_t n_pairs, std::size_t n_wide, const BandedExtents& extents,
             BandedOutput output);
  std::uint8_t* residues() { return residues_.data(); }
  BandedTask* tasks() { return tasks_.data(); }

  // Queues the work.
  void submit();

  // Waits; the results stay valid until the next begin(), in the order of the tasks.
  void collect();
  std::span<const PairEnd> ends() const { return {ends_.data(), n_pairs_}; }
  std::span<const std::uint32_t> n_chunks() const { return {n_chunks_.data(), n_pairs_}; }
  std::span<const PairPath> paths() const { return {paths_.data(), n_pairs_}; }
  std::span<const std::uint32_t> runs() const { return {runs_.data(), n_runs_}; }
  double device_seconds() const { return seconds_; }  // kernels of the last batch collected
  std::uint64_t device_bytes() const { return arena_.capacity_bytes(); }

  // Device memory that a batch of these extents takes.
  static std::uint64_t count_bytes(std::size_t n_pairs, const BandedExtents& extents);

 private:
  BandedArgs carve();
  void launch(const BandedArgs& args, bool wide);

  BatchSettings settings_;
  int xdrop_;
  BandedOutput output_ = BandedOutput::ends;
  BandedExtents extents_;
  Arena arena_;
  PinnedBuffer<std::uint8_t> residues_;
  PinnedBuffer<BandedTask> tasks_;
  PinnedBuffer<PairEnd> ends_;
  PinnedBuffer<std::uint32_t> n_chunks_;
  PinnedBuffer<PairPath> paths_;
  PinnedBuffer<std::uint32_t> n_runs_host_;
  PinnedBuffer<std::uint32_t> runs_;
  BandedTracebackArgs traceback_;
  std::size_t n_pairs_ = 0, n_wide_ = 0;
  std::size_t n_runs_ = 0;
  double seconds_ = 0;
  Event start_, stop_;
  Stream stream_;  // last: its destruction waits for work on all of the above
};

}  // namespace biogpu::gpu::align
