// The path of each pair as run lengths in BAM coding, and its statistics, read off the trace of
// diagonals.hip.
//
// Shapes   lines and chunks as diagonals.hpp says; scratch_runs: n_rows + n_columns words a pair;
//          paths[n_pairs]; runs: all paths one after the other, n_runs words used.
// Mapping  one thread a pair, 64 threads a block, as path_walk.hip.
// Traffic  a line and a chunk, two sectors, a path column; bound by memory latency.
// Result   as path_walk.hip.
// Source   own.
// Oracle   align_ref, lib/align/align_ref.cpp.
#include "gpu/align/diagonals/diagonals.hpp"
#include "gpu/align/fill_rectangle.hpp"
#include "gpu/align/walk_trace.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 64;

struct DiagonalView {
  static constexpr bool kLeaving = true;  // extensions are those of the next column and row
  static constexpr std::int32_t row_offset = 0;
  static constexpr std::int32_t column_offset = 0;
  const DiagonalLine* lines = nullptr;
  const DiagonalChunk* chunks = nullptr;

  using Place = int;  // the row
  __device__ __forceinline__ Place place(int row) const { return row; }
  __device__ __forceinline__ Place above(Place row, int n) const { return row - n; }
  // 0 outside the line's window, where no path goes but the walk may look ahead.
  __device__ __forceinline__ std::uint32_t at(int row, int column) const {
    const DiagonalLine line = lines[row + column + 2];
    const std::uint32_t n_chunks = lines[row + column + 3].chunk - line.chunk;
    const int cell = row + 1 - line.first;
    const auto chunk_of_line = static_cast<std::uint32_t>(cell / kChunkCells);
    if (cell < 0 || chunk_of_line >= n_chunks) return 0;
    const DiagonalChunk chunk = chunks[line.chunk + static_cast<std::uint64_t>(chunk_of_line)];
    const int bit = cell % kChunkCells;
    const auto take = [bit](std::uint32_t votes, std::uint32_t flag) {
      return (votes >> bit & 1u) != 0 ? flag : 0u;
    };
    return take(chunk.gap, kTraceGap) | take(chunk.e, kTraceE) |
           take(chunk.extends_e, kTraceExtendE) | take(chunk.extends_f, kTraceExtendF);
  }
};

__global__ void diagonal_walk_kernel(DiagonalWalkArgs a) {
  __shared__ std::int8_t scores[kScoreBytes];
  load_scores(scores, a.filled.scheme.scores);
  const unsigned pair = blockIdx.x * kBlock + threadIdx.x;
  if (pair >= a.filled.n_pairs) return;
  const DiagonalTask task = a.filled.tasks[pair];
  std::uint32_t* const scratch = a.scratch_runs == nullptr ? nullptr : a.scratch_runs + task.runs;
  const WalkPair sequences = {a.filled.residues + task.query,
                              a.filled.residues + task.target,
                              task.n_rows,
                              task.n_columns,
                              scores,
                              scratch};
  // An extension ends like a local path and begins like a global one.
  const bool ends_anywhere = a.filled.scheme.local || a.filled.xdrop != kNoDrop;
  WalkState state = begin_walk(a.filled.ends[pair], ends_anywhere, sequences);
  if (state.done != 0) {
    a.paths[pair] = {0, 0, 0, 0, 0, 0, 0};
    return;
  }
  const DiagonalView view = {a.filled.lines + task.lines, a.filled.chunks + task.chunks};
  walk_rectangle<false>(state, view, a.filled.scheme, sequences);
  store_path(end_walk(state, a.filled.scheme, sequences), scratch, a.n_runs, a.runs,
             a.paths + pair);
}

}  // namespace

void launch_diagonal_walk(const DiagonalWalkArgs& args, Stream& stream) {
  if (args.filled.n_pairs == 0) return;
  stream.launch(diagonal_walk_kernel, ceil_div<std::size_t>(args.filled.n_pairs, kBlock), kBlock,
                args);
}

}  // namespace biogpu::gpu::align
