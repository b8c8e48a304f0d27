#pragma once

// Device code: fills a strip of kStripRows rows of one large matrix, all of its columns, with one
// wave in packed 16-bit words. The recurrences are those of dp_i16x2.hpp. The low halves hold
// the upper half of the strip's rows, the high halves the lower one, kWave columns behind: what the
// last lane's low half leaves is what the first lane's high half needs in the next step, so that
// one rotation through the lanes passes everything on.
//
// Cells are kept relative to a base in 32 bits that follows the scores: neighbouring cells differ
// by no more than fits_strips() allows, so that all cells of a wave stay within 15 bits of it.
#include "gpu/align/cells.hpp"
#include "gpu/align/dp_tile.hpp"
#include "gpu/align/long/long_pair.hpp"
#include "gpu/align/long/strip_stage.hpp"
#include "gpu/prim/device_flag.hpp"
#include "gpu/prim/i16x2.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// What a local strip finds: the score alone is cheaper. Else the ends of paths are always found.
enum class StripOutput { score, ends, borders };

template <int kWave, bool kLocal, StripOutput kOutput>
class StripLane {
 public:
  static constexpr bool kKeep = kOutput == StripOutput::borders;
  static constexpr bool kScore = kLocal && kOutput == StripOutput::score;
  static constexpr int kRows = kStripRows / (2 * kWave);
  static constexpr int kHalfRows = kStripRows / 2;
  static_assert(2 * kWave <= kStripBegun);

  __device__ StripLane(const LongPairArgs& args, int strip, const std::uint32_t* words,
                       StripStage& stage)
      : a_(args),
        scheme_(args.scheme),
        words_(words),
        stage_(stage),
        lower_(i16x2_offset(-scheme_.packed_raise, -scheme_.packed_raise)),
        open_(i16x2_offset(-scheme_.gap_open, -scheme_.gap_open)),
        extend_(i16x2_offset(-scheme_.gap_extend, -scheme_.gap_extend)),
        extend_halves_(i16x2(-scheme_.gap_extend, -scheme_.gap_extend)),
        strip_(strip),
        lane_(wave_lane<kWave>()),
        n_columns_(args.n_columns) {}

  // All lanes of the wave together.
  __device__ void fill() {
    begin_strip();
    const int n_steps = n_columns_ + 2 * kWave - 1;
#pragma unroll 1
    for (int begin = 0; begin < n_steps; begin += kStripSteps) {
      if constexpr (kScore) keep_best();
      if (begin >= kStripBegun) follow_scores();
      read_above(begin);
      special_ = begin < kStripBegun || begin + kStripSteps >= n_columns_ || ends_in_row_;
      const int left = n_steps - begin;
      const int n = left < kStripSteps ? left : kStripSteps;
#pragma unroll 1
      for (int step = 0; step < n; ++step) take_step(begin, step);
      write_below(begin, n);
    }
  }

  // Local: of all cells; else of the last column and of the last row. In every lane.
  __device__ BlockRowEnds ends() {
    if constexpr (kLocal && !kScore) find_rows();
    const PairEnd best = is_better(best_[1], best_[0]) ? best_[1] : best_[0];
    const PairEnd in_row = is_better(best_in_last_row_[1], best_in_last_row_[0])
                               ? best_in_last_row_[1]
                               : best_in_last_row_[0];
    return {best_of_group<kWave, kWave>(best), best_of_group<kWave, kWave>(in_row)};
  }

 private:
  static __device__ int half_of(I16x2 value, int half) {
    return half == 0 ? i16x2_low(value) : i16x2_high(value);
  }
  static __device__ I16x2 with_half(I16x2 value, int half, int number) {
    return half == 0 ? i16x2(number, i16x2_high(value)) : i16x2(i16x2_low(value), number);
  }
  __device__ int first_row(int half) const {
    return strip_ * kStripRows + half * kHalfRows + lane_ * kRows;
  }
  __device__ int d_of_score(int h) const { return h - base_ - scheme_.packed_raise; }
  __device__ int score_of(I16x2 d, int half) const {
    return half_of(d, half) + scheme_.packed_raise + base_;
  }
  __device__ int left_h(int row) const {
    return border_h(kLocal || scheme_.free_query_begin, row + 1, scheme_);
  }
  // The floor of a local path; once all cells are far above it, any number below them.
  __device__ int floor_of_base() const { return greater_of(-base_, kStripGuard); }

  __device__ void begin_strip() {
    const int last_row = a_.n_rows - 1;
    ends_in_row_ = !kLocal && scheme_.free_target_end && last_row / kStripRows == strip_;
    base_ = left_h(strip_ * kStripRows + kHalfRows - 1) - kStripMiddle;
    floor_ = i16x2(floor_of_base(), floor_of_base());
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      best_[half] = {kLocal ? 0 : kImpossible, 0, 0};
      best_in_last_row_[half] = {kImpossible, 0, 0};
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = first_row(half) + r;
        word_[half][r] = words_[row < a_.n_rows ? a_.query[row] : kPadClass];
      }
      begin_half(half);
    }
  }

  // The column before the first.
  __device__ void begin_half(int half) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int h = left_h(first_row(half) + r);
      d_[r] = with_half(d_[r], half, d_of_score(h));
      e_[r] = with_half(e_[r], half, kLocal ? floor_of_base() : h - base_ - scheme_.gap_open);
    }
    d_diagonal_ = with_half(d_diagonal_, half, d_of_score(left_h(first_row(half) - 1)));
    best_so_far_ = with_half(best_so_far_, half, half_of(floor_, half));
  }

  // Special rounds look at each column by itself, because not all belong to the matrix.
  __device__ void keep_best() {
    if (special_) return;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      best_[half].score = greater_of(best_[half].score, half_of(best_so_far_, half) + base_);
  }

  // Moves the base so that a cell in the middle of the strip lies in the middle of its range.
  __device__ void follow_scores() {
    const int moved =
        wave_shuffle<kWave>(i16x2_high(d_[0]), 0) + scheme_.packed_raise - kStripMiddle;
    base_ += moved;
    const I16x2Offset back = i16x2_offset(-moved, -moved);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      d_[r] = i16x2_shifted(d_[r], back);
      e_[r] = i16x2_shifted(e_[r], back);
    }
    f_ = i16x2_shifted(f_, back);
    d_diagonal_ = i16x2_shifted(d_diagonal_, back);
    if constexpr (kLocal) {
      floor_ = i16x2(floor_of_base(), floor_of_base());
      best_so_far_ = i16x2(within_half(i16x2_low(best_so_far_) - moved),
                           within_half(i16x2_high(best_so_far_) - moved));
    }
  }
  static __device__ int within_half(int number) {
    return number < 0 ? 0 : number > 32767 ? 32767 : number;
  }

  // The cells above the columns that the first lane meets next. Behind the last column its cell is
  // repeated, which keeps unused cells within bounds.
  __device__ __forceinline__ void read_above(int begin) {
    const int end = begin + kStripSteps < n_columns_ ? begin + kStripSteps : n_columns_;
    if (strip_ > 0 && lane_ == 0)
      wait_acquire(a_.strip_progress + strip_ - 1, static_cast<std::uint32_t>(end));
    wave_sync<kWave>();  // the last ones are no longer read
    const BorderCell* const row =
        a_.strip_rows + static_cast<std::uint64_t>((strip_ + 1) % 2) * a_.n_columns;
    for (int i = lane_; i < kStripSteps; i += kWave) {
      const int column = begin + i < n_columns_ ? begin + i : n_columns_ - 1;
      BorderCell cell;
      if (strip_ > 0) {
        cell = row[column];
      } else {
        cell.h = border_h(kLocal || scheme_.free_target_begin, column + 1, scheme_);
        cell.gap = cell.h - scheme_.gap_open;  // never greater than what H opens
      }
      const int f = greater_of(cell.gap - scheme_.gap_extend, cell.h - scheme_.gap_open) - base_;
      stage_.in[i] = {static_cast<std::uint32_t>(d_of_score(cell.h)), static_cast<std::uint32_t>(f),
                      a_.target[column], 0u};
    }
    wave_sync<kWave>();
  }

  // What the last lane left in n steps. Its halves are kWave - 1 and 2 kWave - 1 columns behind.
  __device__ __forceinline__ void write_below(int begin, int n) {
    wave_sync<kWave>();
    BorderCell* const row = a_.strip_rows + static_cast<std::uint64_t>(strip_ % 2) * a_.n_columns;
    BorderCell* const kept_inside = kept_row((strip_ * kStripRows) + kHalfRows);
    BorderCell* const kept_below = kept_row((strip_ + 1) * kStripRows);
    for (int i = lane_; i < n; i += kWave) {
      const StripBorder out = stage_.out[i];
      const int column = begin + i - (2 * kWave - 1);
      if (column >= 0 && column < n_columns_) {
        const BorderCell cell = {score_of({out.d}, 1), i16x2_high({out.f_of_row}) + base_};
        row[column] = cell;
        if (kept_below != nullptr) kept_below[column] = cell;
      }
      if (kept_inside != nullptr && column + kWave >= 0 && column + kWave < n_columns_)
        kept_inside[column + kWave] = {score_of({out.d}, 0), i16x2_low({out.f_of_row}) + base_};
    }
    wave_sync<kWave>();
    const int done = begin + n - (2 * kWave - 1);
    if (lane_ == 0 && done > 0) {
      store_release(a_.strip_progress + strip_,
                    static_cast<std::uint32_t>(done < n_columns_ ? done : n_columns_));
    }
  }

  // Where the last of the first n_above rows is kept; nullptr: nowhere.
  __device__ BorderCell* kept_row(int n_above) const {
    if (!kKeep || n_above % a_.block_rows != 0 || n_above >= a_.n_rows) return nullptr;
    return a_.kept_rows + static_cast<std::uint64_t>(n_above / a_.block_rows - 1) * a_.n_columns;
  }

  __device__ __forceinline__ void take_step(int begin, int step) {
    const int from = (lane_ + kWave - 1) % kWave;
    I16x2 d_above = {wave_shuffle<kWave>(d_[kRows - 1].bits, from)};
    I16x2 f_above = {wave_shuffle<kWave>(f_.bits, from)};
    std::uint32_t letters = wave_shuffle<kWave>(letters_, from);
    const StripInput in = stage_.in[step];
    if (lane_ == 0) {
      d_above.bits = d_above.bits << 16 | in.d;
      f_above.bits = f_above.bits << 16 | in.f;
      letters = (letters & 0xffu) << 8 | in.letter;
    }
    letters_ = letters;
    const int column = begin + step - lane_;  // of the low half
    if (special_) {
      if (column == kWave) begin_half(1);
      if (column < 0) return;
    }
    if constexpr (kKeep) {
      // One question for both halves; those who ask in vain are few.
      const int mask = (a_.block_columns - 1) & ~kWave;
      if (((column + 1) & mask) <= 1) keep_columns(column);
    }
    fill_column(d_above, f_above, step);
    if constexpr (!kLocal) {
      if (special_) take_ends(column);
    } else if (kScore && !special_) {
      best_so_far_ = best_ahead_;
    } else {
      take_best(column);
    }
  }

  // Before a column is filled, E is its own and d that of the column before.
  __device__ void keep_columns(int low_column) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = low_column - half * kWave;
      if (column <= 0 || column >= n_columns_) continue;
      const bool is_last = (column + 1) % a_.block_columns == 0;
      if (!is_last && column % a_.block_columns != 0) continue;
      const int boundary = (column + 1) / a_.block_columns - 1;
      BorderCell* const cells = a_.kept_columns + static_cast<std::uint64_t>(boundary) * a_.n_rows;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = first_row(half) + r;
        if (row >= a_.n_rows) continue;
        if (is_last) {
          cells[row].gap = half_of(e_[r], half) + base_;
        } else {
          cells[row].h = score_of(d_[r], half);
        }
      }
    }
  }

  __device__ __forceinline__ void fill_column(I16x2 d_above, I16x2 f, int step) {
    const I16x2Selector selector = i16x2_selector(letters_ & 0xffu, letters_ >> 8);
    I16x2 d_diagonal = d_diagonal_;
    d_diagonal_ = d_above;
    I16x2 best = best_so_far_;
    I16x2 h_even = floor_;
    I16x2 f_of_row = f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const I16x2Offset score = {i16x2_select(word_[0][r], word_[1][r], selector).bits};
      const I16x2 diagonal = i16x2_shifted(d_diagonal, score);
      d_diagonal = d_[r];
      // F opens from a path that does not end in F: as opening costs no less than extending, it is
      // the same, and from row to row there is one operation to wait for instead of three.
      const I16x2 without_f = i16x2_max(diagonal, e_[r]);
      const I16x2 h = i16x2_max(without_f, f);
      f_of_row = f;
      f = i16x2_add_max(f, extend_halves_, i16x2_shifted(without_f, open_));
      d_[r] = i16x2_shifted(h, lower_);
      const I16x2 opened = i16x2_shifted(h, open_);
      e_[r] = kLocal ? i16x2_max3(i16x2_shifted(e_[r], extend_), opened, floor_)
                     : i16x2_add_max(e_[r], extend_halves_, opened);
      if constexpr (kLocal) {
        if (r % 2 == 1) best = i16x2_max3(best, h_even, h);
        h_even = h;
      }
    }
    f_ = f;
    best_ahead_ = best;
    if (lane_ == kWave - 1) stage_.out[step] = {d_[kRows - 1].bits, f.bits, f_of_row.bits, 0u};
  }

  // One comparison a column unless a half improves on what this lane has found so far. Along a good
  // path every column does, and all strips wait for the one that it crosses: the cells are set
  // aside, and their rows found in the end.
  __device__ __forceinline__ void take_best(int low_column) {
    if (best_ahead_.bits == best_so_far_.bits) return;
    std::uint32_t improved = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int raised = half_of(best_ahead_, half);
      const int column = low_column - half * kWave;
      const int score = raised + base_;
      if (raised == half_of(best_so_far_, half) || column < 0 || column >= n_columns_ ||
          score <= best_[half].score)
        continue;
      best_[half] = {score, 0, column};
      improved |= half == 0 ? 0xffffu : 0xffff0000u;
      if constexpr (!kScore) best_d_[half] = raised - scheme_.packed_raise;
    }
    if constexpr (!kScore) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        d_of_best_[r].bits = (d_[r].bits & improved) | (d_of_best_[r].bits & ~improved);
    }
    best_so_far_ = best_ahead_;
  }

  // The first row of each half's best cell.
  __device__ void find_rows() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (best_[half].score == 0) continue;
      int row = 0;
#pragma unroll
      for (int r = kRows - 1; r >= 0; --r) {
        if (half_of(d_of_best_[r], half) == best_d_[half]) row = r;
      }
      best_[half].row = first_row(half) + row;
    }
  }

  // The ends on the last row and the last column.
  __device__ void take_ends(int low_column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = low_column - half * kWave;
      if (column < 0 || column >= n_columns_) continue;
      const int last = a_.n_rows - 1 - first_row(half);
      const int first_end = scheme_.free_query_end ? 0 : a_.n_rows - 1;
      const bool in_row = ends_in_row_ && last >= 0 && last < kRows;
      if (!in_row && column + 1 != n_columns_) continue;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = first_row(half) + r;
        const int score = score_of(d_[r], half);
        if (in_row && r == last && score > best_in_last_row_[half].score)
          best_in_last_row_[half] = {score, row, column};
        if (column + 1 == n_columns_ && row >= first_end && r <= last && score > best_[half].score)
          best_[half] = {score, row, column};
      }
    }
  }

  const LongPairArgs& a_;
  const CellScheme& scheme_;
  const std::uint32_t* words_;
  StripStage& stage_;
  const I16x2Offset lower_;    // the raise, negated
  const I16x2Offset open_;     // negated
  const I16x2Offset extend_;   // negated
  const I16x2 extend_halves_;  // negated
  const int strip_;
  const int lane_;
  const int n_columns_;
  bool ends_in_row_ = false;
  bool special_ = true;  // a half begins or ends in this round, or paths in the last row
  PairEnd best_[2];
  PairEnd best_in_last_row_[2];

  int base_ = 0;                  // what a half of 0 is worth
  I16x2 floor_ = {};              // local: a score of 0
  std::uint32_t word_[2][kRows];  // raised scores of a query residue against classes 0..3
  I16x2 d_[kRows] = {};           // of the column before
  I16x2 e_[kRows] = {};           // of the next column
  I16x2 f_ = {};                  // of the row below the lane
  I16x2 d_diagonal_ = {};         // d above the first row, one column before
  I16x2 best_so_far_ = {};        // of this lane, relative to the base
  I16x2 best_ahead_ = {};         // the same with the last column
  I16x2 d_of_best_[kRows] = {};   // of the column of best_, halves by themselves
  int best_d_[2] = {0, 0};        // the best among them
  std::uint32_t letters_ = 0;     // target classes of the column, low half's in the low byte
};

}  // namespace biogpu::gpu::align
