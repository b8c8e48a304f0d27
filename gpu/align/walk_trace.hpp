#pragma once

// Device code: walks one path backwards through the trace of a rectangle and writes its runs from
// the last to the first.
#include "gpu/align/cells.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::align {

inline constexpr std::uint32_t kRunInsertion = 1;
inline constexpr std::uint32_t kRunDeletion = 2;
inline constexpr std::uint32_t kRunEqual = 7;
inline constexpr std::uint32_t kRunMismatch = 8;

// Where a walk stands; it can stop at the border of a rectangle and go on in the next.
struct WalkState {
  std::int32_t row = 0;      // of the whole matrix; -1: on the border
  std::int32_t column = 0;   // of the whole matrix; -1: on the border
  std::uint32_t source = 0;  // kTraceStop: in H; kTraceE, kTraceF: inside that gap
  std::uint32_t done = 0;
  std::uint32_t operation = 0;  // of the run that is being collected
  std::uint32_t length = 0;     // of it, 0: none yet
  std::uint64_t n_runs = 0;     // written
};

// The trace of a rectangle as fill_rectangle.hpp lays it out.
struct TraceView {
  const std::uint32_t* words = nullptr;
  GroupShape shape;
  std::int32_t n_columns = 0;  // of the rectangle as it was filled
  std::int32_t row_offset = 0;
  std::int32_t column_offset = 0;
};

__device__ __forceinline__ void add_run(WalkState& state, std::uint32_t* runs,
                                        std::uint32_t operation, std::uint32_t length) {
  if (length == 0) return;
  if (state.length != 0 && state.operation != operation) {
    runs[state.n_runs++] = state.length << 4 | state.operation;
    state.length = 0;
  }
  state.operation = operation;
  state.length += length;
}

__device__ __forceinline__ void end_runs(WalkState& state, std::uint32_t* runs) {
  if (state.length != 0) runs[state.n_runs++] = state.length << 4 | state.operation;
  state.length = 0;
}

// Starts at the end of the path; the trailing end gap of a path that is not local is taken here.
__device__ __forceinline__ WalkState begin_walk(const PairEnd& end, bool local, int n_rows,
                                                int n_columns, std::uint32_t* runs) {
  WalkState state;
  state.row = end.row;
  state.column = end.column;
  state.done = local && end.score == 0;
  if (!local) {
    add_run(state, runs, kRunInsertion, static_cast<std::uint32_t>(n_rows - 1 - end.row));
    add_run(state, runs, kRunDeletion, static_cast<std::uint32_t>(n_columns - 1 - end.column));
  }
  return state;
}

// Goes on until the path ends or leaves the rectangle. query and target: the whole sequences.
__device__ __forceinline__ void walk_rectangle(WalkState& state, const TraceView& view,
                                               const std::uint8_t* query,
                                               const std::uint8_t* target, std::uint32_t* runs) {
  const int in_rectangle = state.row - view.row_offset;
  if (state.done || in_rectangle < 0) return;
  const int steps = view.n_columns + view.shape.n_lanes - 1;
  const int words = view.shape.n_rows / kTraceCells;
  const int tile_rows = view.shape.n_lanes * view.shape.n_rows;
  int tile = in_rectangle / tile_rows;
  int lane = in_rectangle % tile_rows / view.shape.n_rows;
  int r = in_rectangle % view.shape.n_rows;
  while (state.row >= view.row_offset && state.column >= view.column_offset) {
    const std::uint64_t step =
        static_cast<std::uint64_t>(tile) * steps + (state.column - view.column_offset) + lane;
    const std::uint32_t word =
        view.words[(step * words + r / kTraceCells) * view.shape.n_lanes + lane];
    const std::uint32_t bits = word >> (kTraceBits * (r % kTraceCells));
    const std::uint32_t source = state.source != 0 ? state.source : bits & kTraceSource;
    if (source == kTraceStop) {
      state.done = 1;
      return;
    }
    if (source == kTraceDiagonal) {
      const bool equal = query[state.row] == target[state.column];
      add_run(state, runs, equal ? kRunEqual : kRunMismatch, 1);
      --state.column;
    } else if (source == kTraceF) {
      add_run(state, runs, kRunInsertion, 1);
      state.source = (bits & kTraceExtendF) != 0 ? kTraceF : kTraceStop;
    } else {
      add_run(state, runs, kRunDeletion, 1);
      state.source = (bits & kTraceExtendE) != 0 ? kTraceE : kTraceStop;
      --state.column;
      continue;
    }
    --state.row;
    if (--r < 0) {
      r = view.shape.n_rows - 1;
      if (--lane < 0) {
        lane = view.shape.n_lanes - 1;
        --tile;
      }
    }
  }
}

// Takes the leading end gap and returns where the aligned part begins; n_runs and run_begin are
// left to the caller.
__device__ __forceinline__ PairPath end_walk(WalkState& state, const CellScheme& scheme,
                                             std::uint32_t* runs) {
  PairPath path = {state.row + 1, state.column + 1, 0, 0};
  if (!scheme.local) {
    add_run(state, runs, kRunInsertion, static_cast<std::uint32_t>(state.row + 1));
    add_run(state, runs, kRunDeletion, static_cast<std::uint32_t>(state.column + 1));
    if (!scheme.free_query_begin) path.row_begin = 0;
    if (!scheme.free_target_begin) path.column_begin = 0;
  }
  end_runs(state, runs);
  return path;
}

}  // namespace biogpu::gpu::align
