#pragma once

// Device code: fills one rectangle of the alignment matrix with a group of lanes. Recurrences of
// O. Gotoh, doi:10.1016/0022-2836(82)90398-9:
//   E(i, j) = max(E(i, j - 1) - extend, H(i, j - 1) - open)
//   F(i, j) = max(F(i - 1, j) - extend, H(i - 1, j) - open)
//   H(i, j) = max(H(i - 1, j - 1) + S, F, E), and 0 where local
// Lane l holds kRows neighbouring rows in registers and works on column step - l; H and F of its
// last row move to the next lane by a shuffle.
#include "gpu/align/cells.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// A part of the matrix of one pair. Borders that are nullptr are those of the whole matrix.
struct Rectangle {
  const std::uint8_t* query = nullptr;   // of the first row
  const std::uint8_t* target = nullptr;  // of the first column
  int n_rows = 0;                        // 0: the group idles along with its wave
  int n_columns = 0;
  int row_offset = 0;  // of the first row in the whole matrix
  int column_offset = 0;
  bool has_last_row = false;  // of the whole matrix
  bool has_last_column = false;
  bool keep_below = false;            // the bottom row is wanted, not only handed between tiles
  const BorderCell* above = nullptr;  // [n_columns]; above[-1] is the corner where left is given
  const BorderCell* left = nullptr;   // [n_rows]
  BorderCell* below = nullptr;        // [n_columns], not read before it is written
  BorderCell* right = nullptr;        // [n_rows]
  std::uint32_t* trace = nullptr;
};

__device__ __forceinline__ int greater_of(int a, int b) { return a > b ? a : b; }

// Whether a is the end rather than b: the score, then the smaller column, then the smaller row.
__device__ __forceinline__ bool is_better(const PairEnd& a, const PairEnd& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.column != b.column) return a.column < b.column;
  return a.row < b.row;
}

// Copies the score table into shared memory; all threads of the block take part.
__device__ __forceinline__ void load_scores(std::int8_t* shared, const std::int8_t* scores) {
  for (unsigned i = threadIdx.x; i < kScoreBytes; i += blockDim.x) shared[i] = scores[i];
  __syncthreads();
}

__device__ __forceinline__ int border_h(bool free, int length, const CellScheme& scheme) {
  return free || length == 0 ? 0 : -(scheme.gap_open + (length - 1) * scheme.gap_extend);
}

template <int kWave, int kLanes>
__device__ __forceinline__ PairEnd best_of_group(PairEnd best) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    const PairEnd other = {wave_shuffle_xor<kWave>(best.score, mask, kLanes),
                           wave_shuffle_xor<kWave>(best.row, mask, kLanes),
                           wave_shuffle_xor<kWave>(best.column, mask, kLanes)};
    if (is_better(other, best)) best = other;
  }
  return best;
}

// The state of one lane: its rows of the current tile and the best ends so far.
template <int kWave, int kLanes, int kRows, bool kLocal, bool kTrace>
class RectangleLane {
 public:
  static constexpr int kTileRows = kLanes * kRows;
  static constexpr int kTraceWords = kRows / kTraceCells;

  __device__ RectangleLane(const Rectangle& rectangle, const CellScheme& scheme,
                           const std::int8_t* scores)
      : rect_(rectangle), scheme_(scheme), scores_(scores) {
    lane_ = wave_lane<kWave>() % kLanes;
    n_tiles_ = (rect_.n_rows + kTileRows - 1) / kTileRows;
    n_steps_ = rect_.n_rows > 0 ? rect_.n_columns + kLanes - 1 : 0;
    best_ = {kLocal ? 0 : kImpossible, 0, 0};
    best_in_last_row_ = {kImpossible, 0, 0};
  }

  // All lanes of the wave call this together.
  __device__ void fill() {
    const int max_tiles = wave_max<kWave>(n_tiles_);
    const int most_steps = wave_max<kWave>(n_steps_);
    for (int tile = 0; tile < max_tiles; ++tile) {
      if (tile < n_tiles_) begin_tile(tile);
      const bool works = tile < n_tiles_;
      for (int step = 0; step < most_steps; ++step) {
        int h_above = wave_shuffle_up<kWave>(h_[kRows - 1], 1, kLanes);
        int f_above = wave_shuffle_up<kWave>(f_, 1, kLanes);
        const int column = step - lane_;
        if (works && static_cast<unsigned>(column) < static_cast<unsigned>(rect_.n_columns)) {
          if (lane_ == 0) {
            const BorderCell cell = above_;
            h_above = cell.h;
            f_above = cell.gap;
            if (column + 1 < rect_.n_columns) above_ = cell_above(tile, column + 1);
          }
          fill_column(tile, column, h_above, f_above);
        }
      }
      wave_sync<kWave>();  // the border row that this tile wrote is read by the next
    }
  }

  // The end of the path as far as this rectangle knows, in every lane of the group. Local: the
  // best cell. Else: the best of the last column, where the rectangle has it.
  __device__ PairEnd best() const { return best_of_group<kWave, kLanes>(best_); }
  // The best of the last row, where ends in it are free.
  __device__ PairEnd best_in_last_row() const {
    return best_of_group<kWave, kLanes>(best_in_last_row_);
  }

 private:
  __device__ int left_h(int row) const {
    if (rect_.left != nullptr && row >= 0) return rect_.left[row].h;
    if (row < 0 && rect_.above != nullptr && rect_.left != nullptr) return rect_.above[-1].h;
    if (rect_.left != nullptr)
      return border_h(kLocal || scheme_.free_target_begin, rect_.column_offset, scheme_);
    return border_h(kLocal || scheme_.free_query_begin, rect_.row_offset + row + 1, scheme_);
  }

  __device__ BorderCell cell_above(int tile, int column) const {
    const BorderCell* row = tile == 0 ? rect_.above : rect_.below;
    if (row != nullptr) return row[column];
    return {
        border_h(kLocal || scheme_.free_target_begin, rect_.column_offset + column + 1, scheme_),
        kImpossible};
  }

  __device__ void begin_tile(int tile) {
    first_row_ = tile * kTileRows + lane_ * kRows;
    for (int r = 0; r < kRows; ++r) {
      const int row = first_row_ + r;
      const bool real = row < rect_.n_rows;
      query_[r] = real ? rect_.query[row] : kPadClass;
      h_[r] = real ? left_h(row) : kImpossible;
      e_[r] = real && rect_.left != nullptr ? rect_.left[row].gap : kImpossible;
    }
    h_diagonal_ = first_row_ <= rect_.n_rows ? left_h(first_row_ - 1) : kImpossible;
    f_ = kImpossible;
    letter_ = rect_.target[0];
    if (lane_ == 0) above_ = cell_above(tile, 0);
  }

  __device__ void fill_column(int tile, int column, int h_above, int f_above) {
    const std::int8_t* scores = scores_ + letter_ * kScoreStride;
    if (column + 1 < rect_.n_columns) letter_ = rect_.target[column + 1];
    int h_diagonal = h_diagonal_;
    h_diagonal_ = h_above;
    int h_up = h_above;
    int f = f_above;
    int column_best = 0;
    std::uint32_t trace[kTrace ? kTraceWords : 1] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int e_extended = e_[r] - scheme_.gap_extend;
      const int e_opened = h_[r] - scheme_.gap_open;
      const int f_extended = f - scheme_.gap_extend;
      const int f_opened = h_up - scheme_.gap_open;
      const int e = greater_of(e_extended, e_opened);
      f = greater_of(f_extended, f_opened);
      const int diagonal = h_diagonal + scores[query_[r]];
      const int gap = greater_of(e, f);
      int h = greater_of(diagonal, gap);
      if constexpr (kTrace) {
        // Never by comparing h with what it may have come from: ptxas 13.0 takes the wrong one
        // where h is also held above 0 (docs/design/nvidia-compiler.md).
        std::uint32_t bits = diagonal >= gap ? 0u : kTraceGap;
        if (f < e) bits |= kTraceE;
        if (e_extended >= e_opened) bits |= kTraceExtendE;
        if (f_extended >= f_opened) bits |= kTraceExtendF;
        trace[r / kTraceCells] |= bits << (kTraceBits * (r % kTraceCells));
      }
      if constexpr (kLocal) h = greater_of(h, 0);
      h_diagonal = h_[r];
      h_[r] = h;
      e_[r] = e;
      h_up = h;
      if constexpr (kLocal) column_best = greater_of(column_best, h);
    }
    f_ = f;
    if constexpr (kTrace) store_trace(tile, column, trace);
    if constexpr (kLocal) {
      if (column_best > best_.score || (column_best == best_.score && column_best > 0 &&
                                        rect_.column_offset + column < best_.column)) {
        take_best_of_column(column, column_best);
      }
    }
    finish_column(tile, column);
  }

  __device__ void store_trace(int tile, int column, const std::uint32_t* trace) const {
    const std::uint64_t step = static_cast<std::uint64_t>(tile) * n_steps_ + column + lane_;
    std::uint32_t* words = rect_.trace + step * (kTraceWords * kLanes) + lane_;
#pragma unroll
    for (int w = 0; w < kTraceWords; ++w) words[w * kLanes] = trace[w];
  }

  // Rows of lower tiles come later, so that an equal score in the same column stays with the upper.
  __device__ void take_best_of_column(int column, int score) {
    int row = 0;
#pragma unroll
    for (int r = kRows - 1; r >= 0; --r) {
      if (h_[r] == score) row = r;
    }
    best_ = {score, rect_.row_offset + first_row_ + row, rect_.column_offset + column};
  }

  // What leaves the lane at the end of a column: the border rows and columns and, except for local
  // alignments, the ends on the last row and column of the matrix.
  __device__ void finish_column(int tile, int column) {
    if (lane_ == kLanes - 1 && (rect_.keep_below || tile + 1 < n_tiles_)) {
      rect_.below[column] = {h_[kRows - 1], f_};
    }
    if (!kLocal && rect_.has_last_row && scheme_.free_target_end && tile + 1 == n_tiles_) {
      const int last = rect_.n_rows - 1 - first_row_;
      if (last >= 0 && last < kRows) {
        int score = 0;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (r == last) score = h_[r];
        }
        if (score > best_in_last_row_.score)
          best_in_last_row_ = {score, rect_.row_offset + rect_.n_rows - 1,
                               rect_.column_offset + column};
      }
    }
    if (column + 1 == rect_.n_columns) finish_last_column();
  }

  __device__ void finish_last_column() {
    const bool takes_end = !kLocal && rect_.has_last_column;
    const int first_end = scheme_.free_query_end ? 0
                          : rect_.has_last_row   ? rect_.n_rows - 1
                                                 : rect_.n_rows;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = first_row_ + r;
      if (row >= rect_.n_rows) continue;
      if (rect_.right != nullptr) rect_.right[row] = {h_[r], e_[r]};
      if (takes_end && row >= first_end && h_[r] > best_.score)
        best_ = {h_[r], rect_.row_offset + row, rect_.column_offset + rect_.n_columns - 1};
    }
  }

  const Rectangle rect_;
  const CellScheme& scheme_;
  const std::int8_t* scores_;
  int lane_;
  int n_tiles_;
  int n_steps_;
  PairEnd best_;
  PairEnd best_in_last_row_;

  int first_row_ = 0;
  int query_[kRows] = {};
  int h_[kRows] = {};      // of the column before
  int e_[kRows] = {};      // of the column before
  int f_ = 0;              // of the last row
  int h_diagonal_ = 0;     // H above the first row, one column before
  int letter_ = 0;         // target class of the next column
  BorderCell above_ = {};  // lane 0: the cell above the next column
};

// The end of a global or semi-global path from the bests of the last column and the last row: among
// equals the last row wins unless its best is the corner.
__device__ __forceinline__ PairEnd choose_end(const PairEnd& in_column, const PairEnd& in_row,
                                              int last_column) {
  const bool row_wins = in_row.score > in_column.score ||
                        (in_row.score == in_column.score && in_row.column < last_column);
  return row_wins ? in_row : in_column;
}

}  // namespace biogpu::gpu::align
