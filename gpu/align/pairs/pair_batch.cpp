#include "gpu/align/pairs/pair_batch.hpp"

#include "gpu/align/pairs/pair_cells.hpp"
#include "gpu/align/pairs/pair_i16.hpp"
#include "gpu/align/traceback.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::gpu::align {
namespace {

// The arena starts every array at a multiple of 256 bytes.
constexpr std::uint64_t kRoundingBytes = 10 * 256;

}  // namespace

void PairBatch::reserve(std::uint64_t bytes) {
  if (bytes + kRoundingBytes <= arena_.capacity_bytes()) return;
  arena_ = Arena();  // free the old before the new is asked for
  arena_ = Arena(bytes + kRoundingBytes);
}

void PairBatch::begin(std::size_t n_pairs, const BatchExtents& extents) {
  n_pairs_ = n_pairs;
  extents_ = extents;
  residues_.reserve(extents.residues);
  tasks_.reserve(n_pairs);
  ends_.reserve(n_pairs);
  if (settings_.with_path) {
    paths_.reserve(n_pairs);
    n_runs_host_.reserve(1);
  }
}

PairBatch::DeviceArrays PairBatch::carve() {
  arena_.reset();
  DeviceArrays device;
  device.residues = arena_.take<std::uint8_t>(extents_.residues);
  device.tasks = arena_.take<PairTask>(n_pairs_);
  device.ends = arena_.take<PairEnd>(n_pairs_);
  device.borders = arena_.take<BorderCell>(extents_.borders);
  bool fits = device.residues != nullptr && device.tasks != nullptr && device.ends != nullptr &&
              device.borders != nullptr;
  if (settings_.with_path) {
    device.trace = arena_.take<std::uint32_t>(extents_.trace);
    device.paths = arena_.take<PairPath>(n_pairs_);
    device.n_runs = arena_.take<std::uint32_t>(1);
    fits = fits && device.trace != nullptr && device.paths != nullptr && device.n_runs != nullptr;
  }
  if (settings_.with_runs) {
    device.scratch_runs = arena_.take<std::uint32_t>(extents_.runs);
    device.runs = arena_.take<std::uint32_t>(extents_.runs);
    fits = fits && device.scratch_runs != nullptr && device.runs != nullptr;
  }
  if (!fits) throw DeviceError(DeviceError::Kind::failed, "a batch is larger than its workspace");
  return device;
}

void PairBatch::launch(const BatchSegment& segment, const DeviceArrays& device, Stream& stream) {
  const KernelChoice& kernel = segment.kernel;
  PairCellsArgs cells;
  cells.scheme = settings_.scheme;
  cells.tasks = device.tasks + segment.first;
  cells.residues = device.residues;
  cells.borders = device.borders;
  cells.trace = device.trace;
  cells.ends = device.ends + segment.first;
  cells.n_pairs = static_cast<std::uint32_t>(segment.n);
  if (!settings_.with_path) {
    if (kernel.packed)
      return launch_pair_score_i16(cells, kernel.shape, settings_.with_ends, stream);
    return launch_pair_cells(cells, kernel.shape, stream);
  }
  if (kernel.packed) {
    launch_pair_trace_i16(cells, kernel.shape, stream);
  } else {
    launch_pair_trace(cells, kernel.shape, stream);
  }
  TracebackArgs traceback;
  traceback.scheme = settings_.scheme;
  traceback.tasks = cells.tasks;
  traceback.residues = cells.residues;
  traceback.trace = cells.trace;
  traceback.ends = cells.ends;
  traceback.scratch_runs = device.scratch_runs;
  traceback.paths = device.paths + segment.first;
  traceback.runs = device.runs;
  traceback.n_runs = device.n_runs;
  traceback.n_pairs = cells.n_pairs;
  traceback.shape = kernel.group();
  traceback.packed = kernel.packed;
  launch_traceback(traceback, stream);
}

void PairBatch::submit(std::span<const BatchSegment> segments) {
  const DeviceArrays device = carve();
  stream_.copy_to_device(device.residues, residues_.data(), extents_.residues);
  stream_.copy_to_device(device.tasks, tasks_.data(), n_pairs_ * sizeof(PairTask));
  if (settings_.with_path) stream_.fill(device.n_runs, 0, sizeof(std::uint32_t));
  start_.record(stream_);
  // Each on a stream of its own: the last pairs of one leave room for those of the next.
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i == 0) continue;
    if (side_streams_.size() < i) side_streams_.emplace_back();
    SideStream& side = side_streams_[i - 1];
    side.stream.wait_for(start_);
    launch(segments[i], device, side.stream);
    side.done.record(side.stream);
  }
  if (!segments.empty()) launch(segments[0], device, stream_);
  for (std::size_t i = 1; i < segments.size(); ++i) stream_.wait_for(side_streams_[i - 1].done);
  stop_.record(stream_);
  stream_.copy_to_host(ends_.data(), device.ends, n_pairs_ * sizeof(PairEnd));
  if (settings_.with_path) {
    stream_.copy_to_host(paths_.data(), device.paths, n_pairs_ * sizeof(PairPath));
    stream_.copy_to_host(n_runs_host_.data(), device.n_runs, sizeof(std::uint32_t));
  }
  runs_on_device_ = device.runs;
}

void PairBatch::collect() {
  stream_.synchronize();
  seconds_ = stop_.seconds_since(start_);
  n_runs_ = 0;
  if (!settings_.with_runs) return;
  n_runs_ = *n_runs_host_.data();
  if (n_runs_ == 0) return;
  // The number of runs is known only now; it is far below the most that there could be.
  runs_.reserve(n_runs_);
  stream_.copy_to_host(runs_.data(), runs_on_device_, n_runs_ * sizeof(std::uint32_t));
  stream_.synchronize();
}

}  // namespace biogpu::gpu::align
