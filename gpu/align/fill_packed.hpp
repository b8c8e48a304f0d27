#pragma once

// Device code: fills the matrices of two pairs at once with a group of lanes, one pair in each half
// of a packed 16-bit word. The mapping is that of fill_rectangle.hpp; the recurrences are written
// so that a cell is six packed operations and a byte permute:
//   h = max(diagonal + S, E, F), and 0 where local
//   o = h - open
//   E of the next column = max(E - extend, o);  F of the next row = max(F - extend, o)
// Registers hold o, not h: the open cost that the diagonal lacks is added to the scores instead.
#include "gpu/align/cells.hpp"
#include "gpu/align/fill_rectangle.hpp"
#include "gpu/prim/packed16.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// Two pairs of the same number of tiles. A missing second pair has no rows.
struct PackedPairs {
  const std::uint8_t* query[2] = {nullptr, nullptr};
  const std::uint8_t* target[2] = {nullptr, nullptr};  // classes 0..3 only
  int n_rows[2] = {0, 0};
  int n_columns[2] = {0, 0};
  BorderCell* border = nullptr;  // [the longer target]: o, F of the next row, packed
};

// H of a cell below both queries; leaves room for one more gap below it.
inline constexpr int kImpossible16 = -(1 << 14);

template <int kWave, int kLanes, int kRows, bool kLocal>
class PackedLane {
 public:
  static constexpr int kTileRows = kLanes * kRows;

  __device__ PackedLane(const PackedPairs& pairs, const CellScheme& scheme,
                        const std::uint32_t* words)
      : pairs_(pairs),
        scheme_(scheme),
        words_(words),
        open_(packed16(-scheme.gap_open, -scheme.gap_open)),
        extend_(packed16(-scheme.gap_extend, -scheme.gap_extend)) {
    lane_ = wave_lane<kWave>() % kLanes;
    const int n_rows = greater_of(pairs.n_rows[0], pairs.n_rows[1]);
    n_columns_ = greater_of(pairs.n_columns[0], pairs.n_columns[1]);
    n_tiles_ = (n_rows + kTileRows - 1) / kTileRows;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      best_[half] = {kLocal ? 0 : kImpossible, 0, 0};
      best_in_last_row_[half] = {kImpossible, 0, 0};
    }
  }

  // All lanes of the wave call this together.
  __device__ void fill() {
    const int most_tiles = wave_max<kWave>(n_tiles_);
    const int most_steps = wave_max<kWave>(n_tiles_ > 0 ? n_columns_ + kLanes - 1 : 0);
    for (int tile = 0; tile < most_tiles; ++tile) {
      const bool works = tile < n_tiles_;
      if (works) begin_tile(tile);
      for (int step = 0; step < most_steps; ++step) {
        Packed16 o_above = {wave_shuffle_up<kWave>(o_[kRows - 1].bits, 1, kLanes)};
        Packed16 f_above = {wave_shuffle_up<kWave>(f_.bits, 1, kLanes)};
        const int column = step - lane_;
        if (works && static_cast<unsigned>(column) < static_cast<unsigned>(n_columns_)) {
          if (lane_ == 0) {
            o_above = o_border_;
            f_above = f_border_;
            if (column + 1 < n_columns_) read_border(tile, column + 1);
          }
          fill_column(tile, column, o_above, f_above);
        }
      }
      wave_sync<kWave>();  // the border row that this tile wrote is read by the next
    }
  }

  // The end of the path of one pair, in every lane of the group.
  __device__ PairEnd end(int half) const {
    const PairEnd best = best_of_group<kWave, kLanes>(best_[half]);
    if constexpr (kLocal) return best;
    const PairEnd in_row = best_of_group<kWave, kLanes>(best_in_last_row_[half]);
    return choose_end(best, in_row, pairs_.n_columns[half] - 1);
  }

 private:
  static __device__ int half_of(Packed16 value, int half) {
    return half == 0 ? packed16_low(value) : packed16_high(value);
  }

  __device__ int left_h(int row) const {
    return border_h(kLocal || scheme_.free_query_begin, row + 1, scheme_);
  }

  // o and F of the row above this tile; above the matrix F comes from the border's H alone.
  __device__ void read_border(int tile, int column) {
    if (tile > 0) {
      const BorderCell cell = pairs_.border[column];
      o_border_ = {static_cast<std::uint32_t>(cell.h)};
      f_border_ = {static_cast<std::uint32_t>(cell.gap)};
      return;
    }
    const int h = border_h(kLocal || scheme_.free_target_begin, column + 1, scheme_);
    o_border_ = packed16(h - scheme_.gap_open, h - scheme_.gap_open);
    f_border_ = o_border_;
  }

  __device__ void begin_tile(int tile) {
    first_row_ = tile * kTileRows + lane_ * kRows;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = first_row_ + r;
      int h[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const bool real = row < pairs_.n_rows[half];
        word_[half][r] = words_[real ? pairs_.query[half][row] : kPadClass];
        h[half] = real ? left_h(row) : kImpossible16;
      }
      o_[r] = packed16_add(packed16(h[0], h[1]), open_);
      e_[r] = o_[r];  // E of column 0 opens from the border: nothing could be extended
    }
    int h[2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
      h[half] = first_row_ <= pairs_.n_rows[half] ? left_h(first_row_ - 1) : kImpossible16;
    o_diagonal_ = packed16_add(packed16(h[0], h[1]), open_);
    tile_best_ = packed16(0, 0);
    read_letters(0);
    if (lane_ == 0) read_border(tile, 0);
  }

  __device__ void read_letters(int column) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      letter_[half] = column < pairs_.n_columns[half] ? pairs_.target[half][column] : 0u;
  }

  __device__ void fill_column(int tile, int column, Packed16 o_above, Packed16 f) {
    const Packed16Selector selector = packed16_selector(letter_[0], letter_[1]);
    read_letters(column + 1);
    Packed16 o_diagonal = o_diagonal_;
    o_diagonal_ = o_above;
    Packed16 column_best = packed16(0, 0);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Packed16 score = packed16_select(word_[0][r], word_[1][r], selector);
      const Packed16 gap = packed16_max(e_[r], f);
      const Packed16 h = kLocal ? packed16_add_max_relu(o_diagonal, score, gap)
                                : packed16_add_max(o_diagonal, score, gap);
      o_diagonal = o_[r];
      o_[r] = packed16_add(h, open_);
      e_[r] = packed16_add_max(e_[r], extend_, o_[r]);
      f = packed16_add_max(f, extend_, o_[r]);
      if constexpr (kLocal) column_best = packed16_max(column_best, h);
    }
    f_ = f;
    if constexpr (kLocal) take_best_of_column(tile, column, column_best);
    if (lane_ == kLanes - 1 && tile + 1 < n_tiles_) {
      pairs_.border[column] = {static_cast<std::int32_t>(o_[kRows - 1].bits),
                               static_cast<std::int32_t>(f_.bits)};
    }
    if constexpr (!kLocal) take_ends(tile, column);
  }

  // One comparison a column unless a half improves on what this tile has found so far.
  __device__ void take_best_of_column(int tile, int column, Packed16 column_best) {
    const Packed16 best = packed16_max(tile_best_, column_best);
    if (best.bits == tile_best_.bits) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int score = half_of(best, half);
      if (score == half_of(tile_best_, half) || column >= pairs_.n_columns[half]) continue;
      const PairEnd found = {score, first_row_ + row_of(score - scheme_.gap_open, half), column};
      if (tile == 0 || is_better(found, best_[half])) best_[half] = found;
    }
    tile_best_ = best;
  }

  // The first of the lane's rows that holds o.
  __device__ int row_of(int o, int half) const {
    int row = 0;
#pragma unroll
    for (int r = kRows - 1; r >= 0; --r) {
      if (half_of(o_[r], half) == o) row = r;
    }
    return row;
  }

  // The ends on the last row and the last column of each pair.
  __device__ void take_ends(int tile, int column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int n_rows = pairs_.n_rows[half];
      const int last = n_rows - 1 - first_row_;
      if (scheme_.free_target_end && tile + 1 == n_tiles_ && last >= 0 && last < kRows &&
          column < pairs_.n_columns[half]) {
        int score = 0;
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (r == last) score = half_of(o_[r], half) + scheme_.gap_open;
        }
        if (score > best_in_last_row_[half].score)
          best_in_last_row_[half] = {score, n_rows - 1, column};
      }
      if (column + 1 != pairs_.n_columns[half]) continue;
      const int first_end = scheme_.free_query_end ? 0 : n_rows - 1;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = first_row_ + r;
        const int score = half_of(o_[r], half) + scheme_.gap_open;
        if (row >= first_end && row < n_rows && score > best_[half].score)
          best_[half] = {score, row, column};
      }
    }
  }

  const PackedPairs pairs_;
  const CellScheme& scheme_;
  const std::uint32_t* words_;
  const Packed16 open_;    // negated
  const Packed16 extend_;  // negated
  int lane_;
  int n_columns_;
  int n_tiles_;
  PairEnd best_[2];
  PairEnd best_in_last_row_[2];

  int first_row_ = 0;
  std::uint32_t word_[2][kRows] = {};  // scores + open of a query residue against classes 0..3
  Packed16 o_[kRows] = {};             // of the column before
  Packed16 e_[kRows] = {};             // of the next column
  Packed16 f_ = {};                    // of the row below the lane
  Packed16 o_diagonal_ = {};           // o above the first row, one column before
  Packed16 tile_best_ = {};            // of this lane
  std::uint32_t letter_[2] = {0, 0};   // target classes of the next column
  Packed16 o_border_ = {};             // lane 0: above the next column
  Packed16 f_border_ = {};
};

}  // namespace biogpu::gpu::align
