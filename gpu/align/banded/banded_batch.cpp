#include "gpu/align/banded/banded_batch.hpp"

#include <algorithm>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu::align {
namespace {

// The arena starts every array at a multiple of 256 bytes.
constexpr std::uint64_t kRoundingBytes = 12 * 256;

}  // namespace

std::uint64_t BandedBatch::count_bytes(std::size_t n_pairs, const BandedExtents& extents) {
  return n_pairs *
             (sizeof(BandedTask) + sizeof(PairEnd) + sizeof(PairPath) + sizeof(std::uint32_t)) +
         extents.residues + extents.ring_words * sizeof(std::int32_t) +
         extents.lines * sizeof(BandedLine) + extents.chunks * sizeof(BandedChunk) +
         2 * extents.runs * sizeof(std::uint32_t);
}

void BandedBatch::begin(std::size_t n_pairs, std::size_t n_wide, const BandedExtents& extents,
                        BandedOutput output) {
  n_pairs_ = n_pairs;
  n_wide_ = n_wide;
  extents_ = extents;
  output_ = output;
  residues_.reserve(extents.residues);
  tasks_.reserve(n_pairs);
  ends_.reserve(n_pairs);
  n_chunks_.reserve(n_pairs);
  paths_.reserve(n_pairs);
  n_runs_host_.reserve(1);
  const std::uint64_t bytes = count_bytes(n_pairs, extents) + kRoundingBytes;
  if (bytes <= arena_.capacity_bytes()) return;
  arena_ = Arena();  // free the old before the new is asked for
  arena_ = Arena(bytes);
}

BandedArgs BandedBatch::carve() {
  arena_.reset();
  bool fits = true;
  const auto take = [&]<class T>(T*& to, std::uint64_t n) {
    to = arena_.take<T>(n);
    fits = fits && to != nullptr;
  };
  BandedArgs args;
  args.scheme = settings_.scheme;
  args.xdrop = xdrop_;
  BandedTask* tasks = nullptr;
  std::uint8_t* residues = nullptr;
  take(tasks, n_pairs_);
  take(residues, extents_.residues);
  take(args.rings, extents_.ring_words);
  take(args.ends, n_pairs_);
  if (output_ != BandedOutput::ends) take(args.lines, extents_.lines);
  if (output_ == BandedOutput::n_chunks) take(args.n_chunks, n_pairs_);
  traceback_ = {};
  if (output_ == BandedOutput::path) {
    take(args.chunks, extents_.chunks);
    take(traceback_.paths, n_pairs_);
    take(traceback_.n_runs, 1);
    if (settings_.with_runs) {
      take(traceback_.scratch_runs, extents_.runs);
      take(traceback_.runs, extents_.runs);
    }
  }
  if (!fits) throw DeviceError(DeviceError::Kind::failed, "a batch is larger than its workspace");
  args.tasks = tasks;
  args.residues = residues;
  stream_.copy_to_device(residues, residues_.data(), extents_.residues);
  stream_.copy_to_device(tasks, tasks_.data(), n_pairs_ * sizeof(BandedTask));
  return args;
}

void BandedBatch::launch(const BandedArgs& all, bool wide) {
  const std::size_t first = wide ? 0 : n_wide_;
  BandedArgs args = all;
  args.tasks += first;
  args.ends += first;
  if (args.n_chunks != nullptr) args.n_chunks += first;
  args.n_pairs = static_cast<std::uint32_t>(wide ? n_wide_ : n_pairs_ - n_wide_);
  launch_banded(args, wide, stream_);
  if (output_ != BandedOutput::path) return;
  BandedTracebackArgs traceback = traceback_;
  traceback.filled = args;
  traceback.paths += first;
  launch_banded_traceback(traceback, stream_);
}

void BandedBatch::submit() {
  const BandedArgs args = carve();
  if (output_ == BandedOutput::path) stream_.fill(traceback_.n_runs, 0, sizeof(std::uint32_t));
  start_.record(stream_);
  launch(args, true);
  launch(args, false);
  stop_.record(stream_);
  stream_.copy_to_host(ends_.data(), args.ends, n_pairs_ * sizeof(PairEnd));
  if (args.n_chunks != nullptr)
    stream_.copy_to_host(n_chunks_.data(), args.n_chunks, n_pairs_ * sizeof(std::uint32_t));
  if (output_ != BandedOutput::path) return;
  stream_.copy_to_host(paths_.data(), traceback_.paths, n_pairs_ * sizeof(PairPath));
  stream_.copy_to_host(n_runs_host_.data(), traceback_.n_runs, sizeof(std::uint32_t));
}

void BandedBatch::collect() {
  stream_.synchronize();
  seconds_ = stop_.seconds_since(start_);
  n_runs_ = 0;
  if (output_ != BandedOutput::path || !settings_.with_runs) return;
  n_runs_ = *n_runs_host_.data();
  if (n_runs_ == 0) return;
  // The number of runs is known only now; it is far below the most that there could be.
  runs_.reserve(n_runs_);
  stream_.copy_to_host(runs_.data(), traceback_.runs, n_runs_ * sizeof(std::uint32_t));
  stream_.synchronize();
}

}  // namespace biogpu::gpu::align
