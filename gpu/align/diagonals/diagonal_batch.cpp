#include "gpu/align/diagonals/diagonal_batch.hpp"

#include <algorithm>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu::align {
namespace {

// The arena starts every array at a multiple of 256 bytes.
constexpr std::uint64_t kRoundingBytes = 12 * 256;

}  // namespace

std::uint64_t DiagonalBatch::count_bytes(std::size_t n_pairs, const DiagonalExtents& extents) {
  return n_pairs *
             (sizeof(DiagonalTask) + sizeof(PairEnd) + sizeof(PairPath) + sizeof(std::uint32_t)) +
         extents.residues + extents.ring_words * sizeof(std::int32_t) +
         extents.lines * sizeof(DiagonalLine) + extents.chunks * sizeof(DiagonalChunk) +
         2 * extents.runs * sizeof(std::uint32_t);
}

void DiagonalBatch::begin(std::size_t n_pairs, std::size_t n_wide, const DiagonalExtents& extents,
                          DiagonalOutput output) {
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

DiagonalArgs DiagonalBatch::carve() {
  arena_.reset();
  bool fits = true;
  const auto take = [&]<class T>(T*& to, std::uint64_t n) {
    to = arena_.take<T>(n);
    fits = fits && to != nullptr;
  };
  DiagonalArgs args;
  args.scheme = settings_.scheme;
  args.xdrop = xdrop_;
  DiagonalTask* tasks = nullptr;
  std::uint8_t* residues = nullptr;
  take(tasks, n_pairs_);
  take(residues, extents_.residues);
  take(args.rings, extents_.ring_words);
  take(args.ends, n_pairs_);
  if (output_ != DiagonalOutput::ends) take(args.lines, extents_.lines);
  if (output_ == DiagonalOutput::n_chunks) take(args.n_chunks, n_pairs_);
  walk_ = {};
  if (output_ == DiagonalOutput::path) {
    take(args.chunks, extents_.chunks);
    take(walk_.paths, n_pairs_);
    take(walk_.n_runs, 1);
    if (settings_.with_runs) {
      take(walk_.scratch_runs, extents_.runs);
      take(walk_.runs, extents_.runs);
    }
  }
  if (!fits) throw DeviceError(DeviceError::Kind::failed, "a batch is larger than its workspace");
  args.tasks = tasks;
  args.residues = residues;
  stream_.copy_to_device(residues, residues_.data(), extents_.residues);
  stream_.copy_to_device(tasks, tasks_.data(), n_pairs_ * sizeof(DiagonalTask));
  return args;
}

void DiagonalBatch::launch(const DiagonalArgs& all, bool wide) {
  const std::size_t first = wide ? 0 : n_wide_;
  DiagonalArgs args = all;
  args.tasks += first;
  args.ends += first;
  if (args.n_chunks != nullptr) args.n_chunks += first;
  args.n_pairs = static_cast<std::uint32_t>(wide ? n_wide_ : n_pairs_ - n_wide_);
  launch_diagonals(args, wide, stream_);
  if (output_ != DiagonalOutput::path) return;
  DiagonalWalkArgs walk = walk_;
  walk.filled = args;
  walk.paths += first;
  launch_diagonal_walk(walk, stream_);
}

void DiagonalBatch::submit() {
  const DiagonalArgs args = carve();
  if (output_ == DiagonalOutput::path) stream_.fill(walk_.n_runs, 0, sizeof(std::uint32_t));
  start_.record(stream_);
  launch(args, true);
  launch(args, false);
  stop_.record(stream_);
  stream_.copy_to_host(ends_.data(), args.ends, n_pairs_ * sizeof(PairEnd));
  if (args.n_chunks != nullptr)
    stream_.copy_to_host(n_chunks_.data(), args.n_chunks, n_pairs_ * sizeof(std::uint32_t));
  if (output_ != DiagonalOutput::path) return;
  stream_.copy_to_host(paths_.data(), walk_.paths, n_pairs_ * sizeof(PairPath));
  stream_.copy_to_host(n_runs_host_.data(), walk_.n_runs, sizeof(std::uint32_t));
}

void DiagonalBatch::collect() {
  stream_.synchronize();
  seconds_ = stop_.seconds_since(start_);
  n_runs_ = 0;
  if (output_ != DiagonalOutput::path || !settings_.with_runs) return;
  n_runs_ = *n_runs_host_.data();
  if (n_runs_ == 0) return;
  // The number of runs is known only now; it is far below the most that there could be.
  runs_.reserve(n_runs_);
  stream_.copy_to_host(runs_.data(), walk_.runs, n_runs_ * sizeof(std::uint32_t));
  stream_.synchronize();
}

}  // namespace biogpu::gpu::align
