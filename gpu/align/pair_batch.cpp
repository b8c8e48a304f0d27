#include "gpu/align/pair_batch.hpp"

#include <cstring>

#include "gpu/align/pair_cells.hpp"
#include "gpu/align/pair_score_i16.hpp"
#include "gpu/align/path_walk.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::gpu::align {
namespace {

// The arena starts every array at a multiple of 256 bytes.
constexpr std::uint64_t kRoundingBytes = 10 * 256;

std::uint64_t count_runs(const PairTask& task) {
  return static_cast<std::uint64_t>(task.n_rows) + static_cast<std::uint64_t>(task.n_columns);
}

}  // namespace

void PairBatch::reserve(std::uint64_t bytes) {
  if (bytes + kRoundingBytes <= arena_.capacity_bytes()) return;
  arena_ = Arena();  // free the old before the new is asked for
  arena_ = Arena(bytes + kRoundingBytes);
}

std::uint64_t PairBatch::place(std::vector<Place>& places, std::uint32_t id,
                               std::span<const std::uint8_t> sequence, std::uint64_t& used) {
  if (places.size() <= id) places.resize(id + std::size_t{1});
  Place& place = places[id];
  if (place.epoch != epoch_) {
    place = {epoch_, used};
    used += sequence.size();
    sequences_.push_back(sequence);
  }
  return place.offset;
}

PairBatch::Extents PairBatch::stage(std::span<const PairInput> pairs) {
  ++epoch_;
  sequences_.clear();
  n_pairs_ = pairs.size();
  tasks_.reserve(n_pairs_);
  ends_.reserve(n_pairs_);
  Extents extents;
  for (std::size_t i = 0; i < n_pairs_; ++i) {
    const PairInput& pair = pairs[i];
    PairTask task;
    task.n_rows = static_cast<std::int32_t>(pair.query.size());
    task.n_columns = static_cast<std::int32_t>(pair.target.size());
    task.query = place(query_places_, pair.query_id, pair.query, extents.residues);
    task.target = place(target_places_, pair.target_id, pair.target, extents.residues);
    task.border = extents.borders;
    if (pair.kernel.n_tiles > 1) extents.borders += pair.target.size();
    if (with_path()) {
      task.trace = extents.trace;
      extents.trace += count_trace_words(pair.kernel.group(), task.n_rows, task.n_columns);
      task.runs = extents.runs;
      extents.runs += count_runs(task);
    }
    tasks_.data()[i] = task;
  }
  residues_.reserve(extents.residues);
  std::uint8_t* to = residues_.data();
  for (const auto& sequence : sequences_) {
    std::memcpy(to, sequence.data(), sequence.size());
    to += sequence.size();
  }
  if (with_path()) {
    paths_.reserve(n_pairs_);
    n_runs_host_.reserve(1);
  }
  return extents;
}

PairBatch::DeviceArrays PairBatch::carve(const Extents& extents) {
  arena_.reset();
  DeviceArrays device;
  device.residues = arena_.take<std::uint8_t>(extents.residues);
  device.tasks = arena_.take<PairTask>(n_pairs_);
  device.ends = arena_.take<PairEnd>(n_pairs_);
  device.borders = arena_.take<BorderCell>(extents.borders);
  bool fits = device.residues != nullptr && device.tasks != nullptr && device.ends != nullptr &&
              device.borders != nullptr;
  if (with_path()) {
    device.trace = arena_.take<std::uint32_t>(extents.trace);
    device.scratch_runs = arena_.take<std::uint32_t>(extents.runs);
    device.runs = arena_.take<std::uint32_t>(extents.runs);
    device.n_runs = arena_.take<std::uint32_t>(1);
    device.paths = arena_.take<PairPath>(n_pairs_);
    fits = fits && device.trace != nullptr && device.scratch_runs != nullptr &&
           device.runs != nullptr && device.n_runs != nullptr && device.paths != nullptr;
  }
  if (!fits) throw DeviceError(DeviceError::Kind::failed, "a batch is larger than its workspace");
  return device;
}

void PairBatch::launch(std::size_t first, std::size_t n, const KernelChoice& kernel,
                       const DeviceArrays& device) {
  PairCellsArgs cells;
  cells.scheme = settings_.scheme;
  cells.tasks = device.tasks + first;
  cells.residues = device.residues;
  cells.borders = device.borders;
  cells.trace = device.trace;
  cells.ends = device.ends + first;
  cells.n_pairs = static_cast<std::uint32_t>(n);
  if (kernel.packed) return launch_pair_score_i16(cells, kernel.shape, stream_);
  if (!with_path()) return launch_pair_cells(cells, kernel.shape, stream_);
  launch_pair_trace(cells, kernel.shape, stream_);
  PathWalkArgs walk;
  walk.scheme = settings_.scheme;
  walk.tasks = cells.tasks;
  walk.residues = cells.residues;
  walk.trace = cells.trace;
  walk.ends = cells.ends;
  walk.scratch_runs = device.scratch_runs;
  walk.paths = device.paths + first;
  walk.runs = device.runs;
  walk.n_runs = device.n_runs;
  walk.n_pairs = cells.n_pairs;
  launch_path_walk(walk, kernel.shape, stream_);
}

void PairBatch::submit(std::span<const PairInput> pairs) {
  const Extents extents = stage(pairs);
  const DeviceArrays device = carve(extents);
  stream_.copy_to_device(device.residues, residues_.data(), extents.residues);
  stream_.copy_to_device(device.tasks, tasks_.data(), n_pairs_ * sizeof(PairTask));
  if (with_path()) stream_.fill(device.n_runs, 0, sizeof(std::uint32_t));
  start_.record(stream_);
  std::size_t first = 0;
  while (first < n_pairs_) {
    // Different tile counts would keep the lanes of a wave waiting for each other, and the packed
    // kernel puts only pairs of the same number together.
    const KernelChoice& kernel = pairs[first].kernel;
    std::size_t last = first + 1;
    while (last < n_pairs_ && pairs[last].kernel == kernel) ++last;
    launch(first, last - first, kernel, device);
    first = last;
  }
  stop_.record(stream_);
  stream_.copy_to_host(ends_.data(), device.ends, n_pairs_ * sizeof(PairEnd));
  if (with_path()) {
    stream_.copy_to_host(paths_.data(), device.paths, n_pairs_ * sizeof(PairPath));
    stream_.copy_to_host(n_runs_host_.data(), device.n_runs, sizeof(std::uint32_t));
  }
  runs_on_device_ = device.runs;
}

void PairBatch::collect() {
  stream_.synchronize();
  seconds_ = stop_.seconds_since(start_);
  n_runs_ = 0;
  if (!with_path()) return;
  n_runs_ = *n_runs_host_.data();
  if (n_runs_ == 0) return;
  // The number of runs is known only now; it is far below the most that there could be.
  runs_.reserve(n_runs_);
  stream_.copy_to_host(runs_.data(), runs_on_device_, n_runs_ * sizeof(std::uint32_t));
  stream_.synchronize();
}

}  // namespace biogpu::gpu::align
