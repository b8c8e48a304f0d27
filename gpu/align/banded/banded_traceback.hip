// The path of each pair as run lengths in BAM coding, and its statistics, read off the trace of
// banded_xdrop.hip.
//
// Shapes   lines and chunks as banded_xdrop.hpp says; scratch_runs: n_rows + n_columns words a
// pair;
//          paths[n_pairs]; runs: all paths one after the other, n_runs words used.
// Mapping  one thread a pair, 64 threads a block, as traceback.hip.
// Traffic  a line and a chunk, two sectors, a path column; bound by memory latency.
// Result   as traceback.hip.
// Source   own.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/banded/banded_xdrop.hpp"
#include "gpu/align/dp_tile.hpp"
#include "gpu/align/traceback_steps.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 64;

struct BandedTraceView {
  static constexpr bool kLeaving = true;  // extensions are those of the next column and row
  static constexpr std::int32_t row_offset = 0;
  static constexpr std::int32_t column_offset = 0;
  const BandedLine* lines = nullptr;
  const BandedChunk* chunks = nullptr;

  using Place = int;  // the row
  __device__ __forceinline__ Place place(int row) const { return row; }
  __device__ __forceinline__ Place above(Place row, int n) const { return row - n; }
  // 0 outside the line's window, where no path goes but the traceback may look ahead.
  __device__ __forceinline__ std::uint32_t at(int row, int column) const {
    const BandedLine line = lines[row + column + 2];
    const std::uint32_t n_chunks = lines[row + column + 3].chunk - line.chunk;
    const int cell = row + 1 - line.first;
    const auto chunk_of_line = static_cast<std::uint32_t>(cell / kChunkCells);
    if (cell < 0 || chunk_of_line >= n_chunks) return 0;
    const BandedChunk chunk = chunks[line.chunk + static_cast<std::uint64_t>(chunk_of_line)];
    const int bit = cell % kChunkCells;
    const auto take = [bit](std::uint32_t votes, std::uint32_t flag) {
      return (votes >> bit & 1u) != 0 ? flag : 0u;
    };
    return take(chunk.gap, kTraceGap) | take(chunk.e, kTraceE) |
           take(chunk.extends_e, kTraceExtendE) | take(chunk.extends_f, kTraceExtendF);
  }
};

__global__ void banded_traceback_kernel(BandedTracebackArgs a) {
  __shared__ std::int8_t scores[kScoreBytes];
  load_scores(scores, a.filled.scheme.scores);
  const unsigned pair = blockIdx.x * kBlock + threadIdx.x;
  if (pair >= a.filled.n_pairs) return;
  const BandedTask task = a.filled.tasks[pair];
  std::uint32_t* const scratch = a.scratch_runs == nullptr ? nullptr : a.scratch_runs + task.runs;
  const TracebackPair sequences = {a.filled.residues + task.query,
                                   a.filled.residues + task.target,
                                   task.n_rows,
                                   task.n_columns,
                                   scores,
                                   scratch};
  // An extension ends like a local path and begins like a global one.
  const bool ends_anywhere = a.filled.scheme.local || a.filled.xdrop != kNoDrop;
  TracebackState state = begin_traceback(a.filled.ends[pair], ends_anywhere, sequences);
  if (state.done != 0) {
    a.paths[pair] = {0, 0, 0, 0, 0, 0, 0};
    return;
  }
  const BandedTraceView view = {a.filled.lines + task.lines, a.filled.chunks + task.chunks};
  traceback_tile<false>(state, view, a.filled.scheme, sequences);
  store_path(end_traceback(state, a.filled.scheme, sequences), scratch, a.n_runs, a.runs,
             a.paths + pair);
}

}  // namespace

void launch_banded_traceback(const BandedTracebackArgs& args, Stream& stream) {
  if (args.filled.n_pairs == 0) return;
  stream.launch(banded_traceback_kernel, ceil_div<std::size_t>(args.filled.n_pairs, kBlock), kBlock,
                args);
}

}  // namespace biogpu::gpu::align
