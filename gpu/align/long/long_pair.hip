// Score, end and path of one pair of any size: the matrix in blocks, one anti-diagonal of blocks at
// a time; for the path, the blocks that it crosses are filled again from the kept borders.
//
// Shapes   see LongPairArgs.
// Mapping  a group of 32 lanes a block, 64 threads a thread block; the traceback is one thread.
// Traffic  16 bytes for each border cell, written and read; a refilled block writes half a byte a
//          cell. Bound by instructions; parallel over the blocks of a diagonal.
// Result   exact and independent of the size of blocks: the path is that of the full matrix.
// Limits   |score| below 2^30; kept borders and one block of trace have to fit the memory.
// Source   own; checkpoints as in J. A. Grice et al., doi:10.1093/bioinformatics/13.1.45.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/long/long_pair.hpp"

#include "gpu/align/dp_tile.hpp"
#include "gpu/align/traceback_steps.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 64;
constexpr unsigned kWalkBlock = 256;
constexpr int kLanes = kLongShape.n_lanes;
constexpr int kRows = kLongShape.n_rows;
constexpr int kLongTileRows = kLanes * kRows;

// The block in row bi and column bj of blocks, with its borders.
__device__ Rectangle block_rectangle(const LongPairArgs& a, int bi, int bj) {
  Rectangle rectangle;
  rectangle.row_offset = bi * a.block_rows;
  rectangle.column_offset = bj * a.block_columns;
  const int rows_left = a.n_rows - rectangle.row_offset;
  const int columns_left = a.n_columns - rectangle.column_offset;
  rectangle.has_last_row = rows_left <= a.block_rows;
  rectangle.has_last_column = columns_left <= a.block_columns;
  rectangle.n_rows = rectangle.has_last_row ? rows_left : a.block_rows;
  rectangle.n_columns = rectangle.has_last_column ? columns_left : a.block_columns;
  rectangle.query = a.query + rectangle.row_offset;
  rectangle.target = a.target + rectangle.column_offset;
  const auto row_border = [&](int row) {
    return a.kept_rows + static_cast<std::uint64_t>(row % a.n_kept_rows) * a.n_columns +
           rectangle.column_offset;
  };
  const auto column_border = [&](int column) {
    return a.kept_columns + static_cast<std::uint64_t>(column % a.n_kept_columns) * a.n_rows +
           rectangle.row_offset;
  };
  if (bi > 0) rectangle.above = row_border(bi - 1);
  if (bj > 0) rectangle.left = column_border(bj - 1);
  rectangle.below = row_border(bi);
  rectangle.right = column_border(bj);
  rectangle.keep_below = !rectangle.has_last_row;
  return rectangle;
}

template <int kWave, bool kLocal>
__global__ BIOGPU_LAUNCH_BOUNDS(kBlock, 4) void long_diagonal_kernel(LongPairArgs a, int diagonal,
                                                                     int first, int n_blocks) {
  __shared__ std::int8_t scores[kScoreBytes];
  load_scores(scores, a.scheme.scores);
  const int index = static_cast<int>((blockIdx.x * kBlock + threadIdx.x) / kLanes);
  const int bi = first + index;
  const int bj = diagonal - bi;
  Rectangle rectangle;
  if (index < n_blocks) rectangle = block_rectangle(a, bi, bj);
  RectangleLane<kWave, kLanes, kRows, kLocal, false> lane(rectangle, a.scheme, scores);
  lane.fill();
  const PairEnd best = lane.best();
  const PairEnd in_last_row = lane.best_in_last_row();
  if (index >= n_blocks || threadIdx.x % kLanes != 0) return;
  BlockRowEnds& ends = a.ends[bi];
  if (bj == 0 || is_better(best, ends.best)) ends.best = best;
  if (bj == 0 || is_better(in_last_row, ends.in_last_row)) ends.in_last_row = in_last_row;
}

// The part of a block that the path can still cross: up to its row and column.
__device__ Rectangle rectangle_of_walk(const LongPairArgs& a) {
  const TracebackState state = *a.traceback;
  if (state.done != 0 || state.row < 0 || state.column < 0) return {};
  Rectangle rectangle =
      block_rectangle(a, state.row / a.block_rows, state.column / a.block_columns);
  rectangle.n_rows = state.row - rectangle.row_offset + 1;
  rectangle.n_columns = state.column - rectangle.column_offset + 1;
  rectangle.has_last_row = false;
  rectangle.has_last_column = false;
  rectangle.keep_below = false;
  rectangle.right = nullptr;
  rectangle.trace = a.trace;
  return rectangle;
}

// One block of one wave.
template <int kWave, bool kLocal>
__global__ BIOGPU_LAUNCH_BOUNDS(kWave, 1) void long_refill_kernel(LongPairArgs a) {
  __shared__ std::int8_t scores[kScoreBytes];
  load_scores(scores, a.scheme.scores);
  Rectangle rectangle;
  if (threadIdx.x < kLanes) rectangle = rectangle_of_walk(a);
  RectangleLane<kWave, kLanes, kRows, kLocal, true> lane(rectangle, a.scheme, scores);
  lane.fill();
}

__device__ TracebackPair traceback_pair(const LongPairArgs& a) {
  return {a.query, a.target, a.n_rows, a.n_columns, a.scheme.scores, a.runs};
}

__global__ void long_traceback_begin_kernel(LongPairArgs a, PairEnd end) {
  *a.traceback = begin_traceback(end, a.scheme.local, traceback_pair(a));
}

// The traceback is a chain of dependent reads, 1,000 a block: from shared memory they take a tenth
// of the time. All threads copy the trace, one walks. kShared: the trace of a block fits.
template <bool kShared>
__global__ void long_traceback_kernel(LongPairArgs a) {
  BIOGPU_DYNAMIC_SHARED(std::uint32_t, copy);
  const Rectangle rectangle = rectangle_of_walk(a);
  if (rectangle.n_rows == 0) return;
  if constexpr (kShared) {
    const auto n_words =
        static_cast<unsigned>((rectangle.n_rows + kLongTileRows - 1) / kLongTileRows *
                              (rectangle.n_columns + kLanes - 1) * (kLanes * kRows / kTraceCells));
    for (unsigned i = threadIdx.x; i < n_words; i += kWalkBlock) copy[i] = a.trace[i];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  TracebackState state = *a.traceback;
  const TraceView view = {kShared ? copy : a.trace, kLongShape, rectangle.n_columns,
                          rectangle.row_offset, rectangle.column_offset};
  traceback_tile<false>(state, view, a.scheme, traceback_pair(a));
  *a.traceback = state;
}

__global__ void long_traceback_finish_kernel(LongPairArgs a) {
  TracebackState state = *a.traceback;
  *a.path = end_traceback(state, a.scheme, traceback_pair(a));
}

}  // namespace

std::uint64_t traceback_state_bytes() { return sizeof(TracebackState); }

void launch_long_diagonal(const LongPairArgs& a, int diagonal, Stream& stream) {
  const int n_block_rows = ceil_div(a.n_rows, a.block_rows);
  const int n_block_columns = ceil_div(a.n_columns, a.block_columns);
  const int first = diagonal < n_block_columns ? 0 : diagonal - n_block_columns + 1;
  const int last = diagonal < n_block_rows ? diagonal : n_block_rows - 1;
  if (last < first) return;
  const int n_blocks = last - first + 1;
  const bool wide = stream.wave_width() == 64;
  const auto kernel =
      a.scheme.local ? (wide ? long_diagonal_kernel<64, true> : long_diagonal_kernel<32, true>)
                     : (wide ? long_diagonal_kernel<64, false> : long_diagonal_kernel<32, false>);
  stream.launch(kernel, ceil_div<std::size_t>(n_blocks, kBlock / kLanes), kBlock, a, diagonal,
                first, n_blocks);
}

void launch_long_traceback_begin(const LongPairArgs& args, const PairEnd& end, Stream& stream) {
  stream.launch(long_traceback_begin_kernel, 1, 1, args, end);
}

void launch_long_traceback_step(const LongPairArgs& a, Stream& stream) {
  const bool wide = stream.wave_width() == 64;
  const auto kernel = a.scheme.local
                          ? (wide ? long_refill_kernel<64, true> : long_refill_kernel<32, true>)
                          : (wide ? long_refill_kernel<64, false> : long_refill_kernel<32, false>);
  stream.launch(kernel, 1, static_cast<unsigned>(stream.wave_width()), a);
  const int rows = a.n_rows < a.block_rows ? a.n_rows : a.block_rows;
  const int columns = a.n_columns < a.block_columns ? a.n_columns : a.block_columns;
  const std::uint64_t bytes = count_trace_words(kLongShape, rows, columns) * sizeof(std::uint32_t);
  if (bytes <= a.shared_bytes) {
    stream.launch_shared(long_traceback_kernel<true>, 1, kWalkBlock, bytes, a);
  } else {
    stream.launch(long_traceback_kernel<false>, 1, 1, a);
  }
}

void launch_long_traceback_finish(const LongPairArgs& args, Stream& stream) {
  stream.launch(long_traceback_finish_kernel, 1, 1, args);
}

}  // namespace biogpu::gpu::align
