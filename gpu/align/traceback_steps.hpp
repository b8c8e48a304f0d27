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

// Where a traceback is: in H, or inside a gap.
enum class TracebackPlace : std::uint32_t { h, e, f };

// Where a traceback stands; it can stop and go on, in another rectangle too.
struct TracebackState {
  std::int32_t row = 0;     // of the whole matrix; -1: on the border
  std::int32_t column = 0;  // of the whole matrix; -1: on the border
  std::int32_t left = 0;    // what a local path is still worth
  TracebackPlace place = TracebackPlace::h;
  std::uint32_t done = 0;
  std::uint32_t operation = 0;  // of the run that is being collected
  std::uint32_t length = 0;     // of it, 0: none yet
  std::int32_t matches = 0;
  std::int32_t similar = 0;
  std::int32_t columns = 0;  // the length of the statistics
  std::uint64_t n_runs = 0;  // written
};

// What a traceback needs of a pair. runs: nullptr where the path itself is not wanted.
struct TracebackPair {
  const std::uint8_t* query = nullptr;   // the whole sequence
  const std::uint8_t* target = nullptr;  // the whole sequence
  std::int32_t n_rows = 0;
  std::int32_t n_columns = 0;
  const std::int8_t* scores = nullptr;  // CellScheme::scores, or a copy of it
  std::uint32_t* runs = nullptr;
};

// How many cells of a diagonal are read at once. No group has lanes of fewer rows.
inline constexpr int kTracebackAhead = 8;

// Where a row lies in the lanes of a group.
struct TracePlace {
  std::int32_t tile, lane, row;
};

__device__ __forceinline__ TracePlace place_of(int row, GroupShape shape) {
  const int lane = row / shape.n_rows;
  return {lane / shape.n_lanes, lane % shape.n_lanes, row % shape.n_rows};
}

// The place n rows above, 0 <= n <= kTracebackAhead.
__device__ __forceinline__ TracePlace place_above(TracePlace place, int n, GroupShape shape) {
  place.row -= n;
  if (place.row < 0) {
    place.row += shape.n_rows;
    place.lane -= 1;
  }
  if (place.lane < 0) {
    place.lane += shape.n_lanes;
    place.tile -= 1;
  }
  return place;
}

// The trace of a rectangle as dp_tile.hpp lays it out.
struct TraceView {
  static constexpr bool kLeaving = false;  // extensions are those by which E and F were reached
  const std::uint32_t* words = nullptr;
  GroupShape shape;
  std::int32_t n_columns = 0;  // of the rectangle as it was filled
  std::int32_t row_offset = 0;
  std::int32_t column_offset = 0;

  using Place = TracePlace;
  __device__ __forceinline__ Place place(int row) const {
    return place_of(row - row_offset, shape);
  }
  __device__ __forceinline__ Place above(Place place, int n) const {
    return place_above(place, n, shape);
  }
  __device__ __forceinline__ std::uint32_t at(Place place, int column) const {
    const std::uint64_t step =
        static_cast<std::uint64_t>(place.tile) * (n_columns + shape.n_lanes - 1) +
        (column - column_offset) + place.lane;
    const std::uint64_t chunk = step * (shape.n_rows / kTraceCells) + place.row / kTraceCells;
    return words[chunk * shape.n_lanes + place.lane] >> (kTraceBits * (place.row % kTraceCells));
  }
};

// The trace of one of two pairs as dp_i16x2.hpp lays it out.
struct PackedTraceView {
  static constexpr bool kLeaving = true;  // extensions are those of the next column and row
  static constexpr std::int32_t row_offset = 0;
  static constexpr std::int32_t column_offset = 0;
  const std::uint32_t* words = nullptr;
  GroupShape shape;
  std::int32_t n_columns = 0;  // of the longer of the two
  std::int32_t half = 0;

  using Place = TracePlace;
  __device__ __forceinline__ Place place(int row) const { return place_of(row, shape); }
  __device__ __forceinline__ Place above(Place place, int n) const {
    return place_above(place, n, shape);
  }
  __device__ __forceinline__ std::uint32_t at(Place place, int column) const {
    const int chunks = (shape.n_rows + kPackedTraceCells - 1) / kPackedTraceCells;
    const std::uint64_t step =
        static_cast<std::uint64_t>(place.tile) * (n_columns + shape.n_lanes - 1) + column +
        place.lane;
    const std::uint64_t chunk = step * chunks + place.row / kPackedTraceCells;
    const std::uint32_t word = words[chunk * shape.n_lanes + place.lane] >>
                               (8 * half + 2 * (place.row % kPackedTraceCells));
    return (word & 2u ? 0u : kTraceGap) | (word & 0x20000u ? 0u : kTraceE) |
           (word & 1u ? kTraceExtendE : 0u) | (word & 0x10000u ? kTraceExtendF : 0u);
  }
};

__device__ __forceinline__ void add_run(TracebackState& state, std::uint32_t* runs,
                                        std::uint32_t operation, std::uint32_t length) {
  if (length == 0 || runs == nullptr) return;
  if (state.length != 0 && state.operation != operation) {
    runs[state.n_runs++] = state.length << 4 | state.operation;
    state.length = 0;
  }
  state.operation = operation;
  state.length += length;
}

__device__ __forceinline__ void end_runs(TracebackState& state, std::uint32_t* runs) {
  if (state.length != 0) runs[state.n_runs++] = state.length << 4 | state.operation;
  state.length = 0;
}

// Starts at the end of the path; the trailing end gap of a path that is not local is taken here.
__device__ __forceinline__ TracebackState begin_traceback(const PairEnd& end, bool local,
                                                          const TracebackPair& pair) {
  TracebackState state;
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
struct TracebackCell {
  std::uint32_t bits;
  std::uint8_t query, target;
};

// One residue pair of the path, at the diagonal that leads to the cell.
__device__ __forceinline__ void take_diagonal(TracebackState& state, const TracebackPair& pair,
                                              const TracebackCell& cell) {
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
__device__ __forceinline__ bool take_cell(TracebackState& state, const CellScheme& scheme,
                                          const TracebackPair& pair, const TracebackCell& cell) {
  const int open_more = scheme.gap_open - scheme.gap_extend;
  const bool extends_e = (cell.bits & kTraceExtendE) != 0;
  const bool extends_f = (cell.bits & kTraceExtendF) != 0;
  if (View::kLeaving && ((state.place == TracebackPlace::e && !extends_e) ||
                         (state.place == TracebackPlace::f && !extends_f))) {
    state.left += open_more;
    state.place = TracebackPlace::h;
  }
  if (state.place == TracebackPlace::h) {
    if (scheme.local && state.left == 0) {
      state.done = 1;
      return false;
    }
    if ((cell.bits & kTraceGap) == 0) {
      take_diagonal(state, pair, cell);
      return true;
    }
    state.place = (cell.bits & kTraceE) != 0 ? TracebackPlace::e : TracebackPlace::f;
  }
  // One gap residue; its cost is settled as an extension and corrected where the gap opened.
  ++state.columns;
  state.left += scheme.gap_extend;
  const bool in_f = state.place == TracebackPlace::f;
  add_run(state, pair.runs, in_f ? kRunInsertion : kRunDeletion, 1);
  if (!View::kLeaving && !(in_f ? extends_f : extends_e)) {
    state.left += open_more;
    state.place = TracebackPlace::h;
  }
  (in_f ? state.row : state.column) -= 1;
  return false;
}

__device__ __forceinline__ std::uint64_t read_word(const std::uint8_t* at) {
  std::uint64_t word;
  __builtin_memcpy(&word, __builtin_assume_aligned(at, sizeof word), sizeof word);
  return word;
}

// The kTracebackAhead letters up to `last`, that one in the highest byte; what lies before the
// first letter is undefined. kWords: by two loads of aligned words, of which the sequence's
// neighbours are part, so they must be memory of the same array.
template <bool kWords>
__device__ __forceinline__ std::uint64_t read_letters_back(const std::uint8_t* letters, int last) {
  std::uint64_t back = 0;
  if constexpr (kWords) {
    const std::uint8_t* const letter = letters + last;
    const auto byte = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(letter) & 7u);
    back = read_word(letter - byte) << (8 * (7 - byte));
    if (byte < 7 && static_cast<unsigned>(last) > byte)
      back |= read_word(letter - byte - 8) >> (8 * (byte + 1));
  } else {
#pragma unroll
    for (int k = 0; k < kTracebackAhead; ++k) {
      if (k <= last) back |= static_cast<std::uint64_t>(letters[last - k]) << (8 * (7 - k));
    }
  }
  return back;
}

// Goes on until the path ends or leaves the rectangle. kWords: see read_letters_back().
template <bool kWords, class View>
__device__ __forceinline__ void traceback_tile(TracebackState& state, const View& view,
                                               const CellScheme& scheme,
                                               const TracebackPair& pair) {
  // Most steps go along the diagonal: its next cells are read together, and what was read beyond a
  // turn is dropped.
  while (state.done == 0 && state.row >= view.row_offset && state.column >= view.column_offset) {
    std::uint32_t bits[kTracebackAhead] = {};
    const int row = state.row, column = state.column;
    const auto place = view.place(row);
#pragma unroll
    for (int k = 0; k < kTracebackAhead; ++k) {
      if (row - k < view.row_offset || column - k < view.column_offset) continue;
      bits[k] = view.at(view.above(place, k), column - k);
    }
    const std::uint64_t query = read_letters_back<kWords>(pair.query, row);
    const std::uint64_t target = read_letters_back<kWords>(pair.target, column);
    bool goes_on = true;
#pragma unroll
    for (int k = 0; k < kTracebackAhead; ++k) {
      if (!goes_on || row - k < view.row_offset || column - k < view.column_offset) continue;
      const TracebackCell cell = {bits[k], static_cast<std::uint8_t>(query >> (8 * (7 - k))),
                                  static_cast<std::uint8_t>(target >> (8 * (7 - k)))};
      goes_on = take_cell<View>(state, scheme, pair, cell);
    }
  }
}

// Takes the leading end gap and returns the path; run_begin is left to the caller.
__device__ __forceinline__ PairPath end_traceback(TracebackState& state, const CellScheme& scheme,
                                                  const TracebackPair& pair) {
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
