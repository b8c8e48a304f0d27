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

// Where a walk is: in H, or inside a gap.
enum class WalkPlace : std::uint32_t { h, e, f };

// Where a walk stands; it can stop and go on, in another rectangle too.
struct WalkState {
  std::int32_t row = 0;     // of the whole matrix; -1: on the border
  std::int32_t column = 0;  // of the whole matrix; -1: on the border
  std::int32_t left = 0;    // what a local path is still worth
  WalkPlace place = WalkPlace::h;
  std::uint32_t done = 0;
  std::uint32_t operation = 0;  // of the run that is being collected
  std::uint32_t length = 0;     // of it, 0: none yet
  std::int32_t matches = 0;
  std::int32_t similar = 0;
  std::int32_t columns = 0;  // the length of the statistics
  std::uint64_t n_runs = 0;  // written
};

// What a walk needs of a pair. runs: nullptr where the path itself is not wanted.
struct WalkPair {
  const std::uint8_t* query = nullptr;   // the whole sequence
  const std::uint8_t* target = nullptr;  // the whole sequence
  std::int32_t n_rows = 0;
  std::int32_t n_columns = 0;
  const std::int8_t* scores = nullptr;  // CellScheme::scores, or a copy of it
  std::uint32_t* runs = nullptr;
};

// The trace of a rectangle as fill_rectangle.hpp lays it out.
struct TraceView {
  static constexpr bool kLeaving = false;  // extensions are those by which E and F were reached
  const std::uint32_t* words = nullptr;
  GroupShape shape;
  std::int32_t n_columns = 0;  // of the rectangle as it was filled
  std::int32_t row_offset = 0;
  std::int32_t column_offset = 0;

  __device__ __forceinline__ std::uint32_t at(int row, int column) const {
    const int in_tile = (row - row_offset) % (shape.n_lanes * shape.n_rows);
    const int tile = (row - row_offset) / (shape.n_lanes * shape.n_rows);
    const int lane = in_tile / shape.n_rows;
    const int r = in_tile % shape.n_rows;
    const std::uint64_t step = static_cast<std::uint64_t>(tile) * (n_columns + shape.n_lanes - 1) +
                               (column - column_offset) + lane;
    const std::uint64_t chunk = step * (shape.n_rows / kTraceCells) + r / kTraceCells;
    return words[chunk * shape.n_lanes + lane] >> (kTraceBits * (r % kTraceCells));
  }
};

// The trace of one of two pairs as fill_packed.hpp lays it out.
struct PackedTraceView {
  static constexpr bool kLeaving = true;  // extensions are those of the next column and row
  static constexpr std::int32_t row_offset = 0;
  static constexpr std::int32_t column_offset = 0;
  const std::uint32_t* words = nullptr;
  GroupShape shape;
  std::int32_t n_columns = 0;  // of the longer of the two
  std::int32_t half = 0;

  __device__ __forceinline__ std::uint32_t at(int row, int column) const {
    const int in_tile = row % (shape.n_lanes * shape.n_rows);
    const int tile = row / (shape.n_lanes * shape.n_rows);
    const int lane = in_tile / shape.n_rows;
    const int r = in_tile % shape.n_rows;
    const int chunks = (shape.n_rows + kPackedTraceCells - 1) / kPackedTraceCells;
    const std::uint64_t step =
        static_cast<std::uint64_t>(tile) * (n_columns + shape.n_lanes - 1) + column + lane;
    const std::uint64_t chunk = step * chunks + r / kPackedTraceCells;
    const std::uint32_t word =
        words[chunk * shape.n_lanes + lane] >> (8 * half + 2 * (r % kPackedTraceCells));
    return (word & 2u ? 0u : kTraceGap) | (word & 0x20000u ? 0u : kTraceE) |
           (word & 1u ? kTraceExtendE : 0u) | (word & 0x10000u ? kTraceExtendF : 0u);
  }
};

__device__ __forceinline__ void add_run(WalkState& state, std::uint32_t* runs,
                                        std::uint32_t operation, std::uint32_t length) {
  if (length == 0 || runs == nullptr) return;
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
__device__ __forceinline__ WalkState begin_walk(const PairEnd& end, bool local,
                                                const WalkPair& pair) {
  WalkState state;
  state.row = end.row;
  state.column = end.column;
  state.left = end.score;
  state.done = local && end.score == 0;
  if (!local) {
    add_run(state, pair.runs, kRunInsertion, static_cast<std::uint32_t>(pair.n_rows - 1 - end.row));
    add_run(state, pair.runs, kRunDeletion,
            static_cast<std::uint32_t>(pair.n_columns - 1 - end.column));
  }
  return state;
}

// One cell of a path and the residues that its diagonal pairs.
struct WalkCell {
  std::uint32_t bits;
  std::uint8_t query, target;
};

// One residue pair of the path, at the diagonal that leads to the cell.
__device__ __forceinline__ void take_diagonal(WalkState& state, const WalkPair& pair,
                                              const WalkCell& cell) {
  const int score = pair.scores[cell.target * kScoreStride + cell.query];
  const bool equal = cell.query == cell.target;
  state.matches += equal;
  state.similar += score > 0;
  state.left -= score;
  ++state.columns;
  add_run(state, pair.runs, equal ? kRunEqual : kRunMismatch, 1);
  --state.row;
  --state.column;
}

// Takes the path on from a cell. Whether it went along the diagonal; not, if it ended.
template <class View>
__device__ __forceinline__ bool take_cell(WalkState& state, const CellScheme& scheme,
                                          const WalkPair& pair, const WalkCell& cell) {
  const int open_more = scheme.gap_open - scheme.gap_extend;
  const bool extends_e = (cell.bits & kTraceExtendE) != 0;
  const bool extends_f = (cell.bits & kTraceExtendF) != 0;
  if (View::kLeaving && ((state.place == WalkPlace::e && !extends_e) ||
                         (state.place == WalkPlace::f && !extends_f))) {
    state.left += open_more;
    state.place = WalkPlace::h;
  }
  if (state.place == WalkPlace::h) {
    if (scheme.local && state.left == 0) {
      state.done = 1;
      return false;
    }
    if ((cell.bits & kTraceGap) == 0) {
      take_diagonal(state, pair, cell);
      return true;
    }
    state.place = (cell.bits & kTraceE) != 0 ? WalkPlace::e : WalkPlace::f;
  }
  // One gap residue; its cost is settled as an extension and corrected where the gap opened.
  ++state.columns;
  state.left += scheme.gap_extend;
  const bool in_f = state.place == WalkPlace::f;
  add_run(state, pair.runs, in_f ? kRunInsertion : kRunDeletion, 1);
  if (!View::kLeaving && !(in_f ? extends_f : extends_e)) {
    state.left += open_more;
    state.place = WalkPlace::h;
  }
  (in_f ? state.row : state.column) -= 1;
  return false;
}

// Goes on until the path ends or leaves the rectangle.
template <class View>
__device__ __forceinline__ void walk_rectangle(WalkState& state, const View& view,
                                               const CellScheme& scheme, const WalkPair& pair) {
  // Most steps go along the diagonal: its next cells are read together, and what was read beyond a
  // turn is dropped.
  constexpr int kAhead = 4;
  while (state.done == 0 && state.row >= view.row_offset && state.column >= view.column_offset) {
    WalkCell ahead[kAhead] = {};
    const int row = state.row, column = state.column;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (row - k < view.row_offset || column - k < view.column_offset) continue;
      ahead[k] = {view.at(row - k, column - k), pair.query[row - k], pair.target[column - k]};
    }
    bool goes_on = true;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if (goes_on && row - k >= view.row_offset && column - k >= view.column_offset)
        goes_on = take_cell<View>(state, scheme, pair, ahead[k]);
    }
  }
}

// Takes the leading end gap and returns the path; run_begin is left to the caller.
__device__ __forceinline__ PairPath end_walk(WalkState& state, const CellScheme& scheme,
                                             const WalkPair& pair) {
  PairPath path = {state.row + 1, state.column + 1, 0, 0, state.matches,
                   state.similar, state.columns};
  if (!scheme.local) {
    add_run(state, pair.runs, kRunInsertion, static_cast<std::uint32_t>(state.row + 1));
    add_run(state, pair.runs, kRunDeletion, static_cast<std::uint32_t>(state.column + 1));
    if (!scheme.free_query_begin) path.row_begin = 0;
    if (!scheme.free_target_begin) path.column_begin = 0;
  }
  end_runs(state, pair.runs);
  path.n_runs = static_cast<std::uint32_t>(state.n_runs);
  return path;
}

// Gives the runs of a path, which lie in scratch from the last to the first, their place among
// those of the batch. scratch: nullptr where the path itself is not wanted.
__device__ __forceinline__ void store_path(PairPath path, const std::uint32_t* scratch,
                                           std::uint32_t* n_runs, std::uint32_t* runs,
                                           PairPath* to) {
  if (scratch != nullptr) {
    path.run_begin = atomicAdd(n_runs, path.n_runs);
    for (std::uint32_t i = 0; i < path.n_runs; ++i)
      runs[path.run_begin + i] = scratch[path.n_runs - 1 - i];
  }
  *to = path;
}

}  // namespace biogpu::gpu::align
