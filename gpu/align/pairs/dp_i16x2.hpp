#pragma once

// Device code: fills the matrices of two pairs at once with a group of lanes, one pair in each half
// of a packed 16-bit word. The mapping is that of dp_tile.hpp. Every cell is raised by
// CellScheme::packed_bias, so that both halves stay above 0 and most additions can be plain ones,
// which do not load the pipe of the packed operations (i16x2_shifted):
//   h = max(diagonal + S, E, F)
//   o = h - open
//   E of the next column = max(E - extend, o), and 0 where local: a gap that is worth less never
//   F of the next row = max(F - extend, o)        wins against beginning a new path
// Registers hold d = h - raise: scores are raised by as much and therefore never negative.
#include <type_traits>

#include "gpu/align/cells.hpp"
#include "gpu/align/dp_tile.hpp"
#include "gpu/prim/i16x2.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// Two pairs of the same number of tiles. A missing second pair has no rows.
struct PackedPairs {
  const std::uint8_t* query[2] = {nullptr, nullptr};
  const std::uint8_t* target[2] = {nullptr, nullptr};  // classes 0..3 only
  int n_rows[2] = {0, 0};
  int n_columns[2] = {0, 0};
  BorderCell* border = nullptr;    // [the longer target]: d, F of the next row, packed
  std::uint32_t* trace = nullptr;  // count_packed_trace_words()
};

// What a launch is asked for; a score alone is told apart only where it is cheaper: local.
enum class PackedOutput { score, ends, trace };

// d of four rows of a lane in the column where a half found the best of its tile, of all threads of
// a block. The row of it is looked for once, when the tile is done: a similar pair improves in
// nearly every column.
struct alignas(16) KeptRows {
  std::uint32_t d[4];
};
template <int kThreads, int kRows>
struct KeptColumns {
  static constexpr int kWords = (kRows + 3) / 4;
  KeptRows rows[2][kWords][kThreads];  // [half]
};
// d of the rows of a lane, of all threads, where that of one row is asked for that only the lane
// knows: registers have no index.
template <int kThreads, int kRows>
struct LaneRows {
  std::uint32_t d[kRows][kThreads];
};

template <int kWave, int kThreads, int kLanes, int kRows, bool kLocal, PackedOutput kOutput>
class PackedLane {
 public:
  using Kept = std::conditional_t<kLocal, KeptColumns<kThreads, kRows>, LaneRows<kThreads, kRows>>;
  static constexpr bool kKeeps = !kLocal || kOutput != PackedOutput::score;
  static constexpr bool kTrace = kOutput == PackedOutput::trace;
  static constexpr int kTileRows = kLanes * kRows;
  static constexpr int kChunks = (kRows + kPackedTraceCells - 1) / kPackedTraceCells;

  // kept: shared memory; used where kKeeps.
  __device__ PackedLane(const PackedPairs& pairs, const CellScheme& scheme,
                        const std::uint32_t* words, Kept* kept)
      : pairs_(pairs),
        scheme_(scheme),
        words_(words),
        kept_(kept),
        bias_(scheme.packed_bias),
        lower_(i16x2_offset(-scheme.packed_raise, -scheme.packed_raise)),
        open_(i16x2_offset(-scheme.gap_open, -scheme.gap_open)),
        extend_(i16x2_offset(-scheme.gap_extend, -scheme.gap_extend)),
        extend_halves_(i16x2(-scheme.gap_extend, -scheme.gap_extend)) {
    for (int k = 0; k < kPackedTraceCells; ++k)
      open_guarded_[k] = {open_.bits - (0x01000100u << (2 * k))};
    lane_ = wave_lane<kWave>() % kLanes;
    const int n_rows = greater_of(pairs.n_rows[0], pairs.n_rows[1]);
    n_columns_ = greater_of(pairs.n_columns[0], pairs.n_columns[1]);
    n_tiles_ = (n_rows + kTileRows - 1) / kTileRows;
    n_steps_ = n_tiles_ > 0 ? n_columns_ + kLanes - 1 : 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      best_[half] = {kLocal ? 0 : kImpossible, 0, 0};
      best_in_last_row_[half] = {kImpossible, 0, 0};
    }
  }

  // All lanes of the wave call this together.
  __device__ void fill() {
    const int max_tiles = wave_max<kWave>(n_tiles_);
    const int most_steps = wave_max<kWave>(n_steps_);
    for (int tile = 0; tile < max_tiles; ++tile) {
      const bool works = tile < n_tiles_;
      if (works) begin_tile(tile);
      for (int step = 0; step < most_steps; ++step) {
        I16x2 d_above = {wave_shuffle_up<kWave>(d_[kRows - 1].bits, 1, kLanes)};
        I16x2 f_above = {wave_shuffle_up<kWave>(f_.bits, 1, kLanes)};
        const int column = step - lane_;
        if (works && static_cast<unsigned>(column) < static_cast<unsigned>(n_columns_)) {
          if (lane_ == 0) {
            d_above = d_border_;
            f_above = f_border_;
            if (column + 1 < n_columns_) read_border(tile, column + 1);
          }
          fill_column(tile, column, d_above, f_above);
        }
      }
      if constexpr (kLocal && kKeeps) {
        if (works) take_best_of_tile(tile);
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
  static __device__ int half_of(I16x2 value, int half) {
    return half == 0 ? i16x2_low(value) : i16x2_high(value);
  }
  // The score of a cell whose d is this.
  __device__ int score_of(I16x2 d, int half) const {
    return half_of(d, half) + scheme_.packed_raise - bias_;
  }
  __device__ I16x2 d_of_score(int h) const {
    const int d = h + bias_ - scheme_.packed_raise;
    return i16x2(d, d);
  }

  __device__ int left_h(int row) const {
    return border_h(kLocal || scheme_.free_query_begin, row + 1, scheme_);
  }

  // d and F of the row above this tile; above the matrix F comes from the border's H alone.
  __device__ void read_border(int tile, int column) {
    if (tile > 0) {
      const BorderCell cell = pairs_.border[column];
      d_border_ = {static_cast<std::uint32_t>(cell.h)};
      f_border_ = {static_cast<std::uint32_t>(cell.gap)};
      return;
    }
    const int h = border_h(kLocal || scheme_.free_target_begin, column + 1, scheme_);
    d_border_ = d_of_score(h);
    f_border_ = i16x2(h + bias_ - scheme_.gap_open, h + bias_ - scheme_.gap_open);
  }

  __device__ void begin_tile(int tile) {
    first_row_ = tile * kTileRows + lane_ * kRows;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = first_row_ + r;
#pragma unroll
      for (int half = 0; half < 2; ++half)
        word_[half][r] = words_[row < pairs_.n_rows[half] ? pairs_.query[half][row] : kPadClass];
      const int h = left_h(row);
      d_[r] = d_of_score(h);
      // E of column 0 opens from the border, nothing could be extended; and it holds the floor.
      const int opened = kLocal ? bias_ : h + bias_ - scheme_.gap_open;
      e_[r] = i16x2(opened, opened);
    }
    d_diagonal_ = d_of_score(left_h(first_row_ - 1));
    tile_best_ = i16x2(bias_, bias_);
    found_[0] = found_[1] = {bias_, 0};
    read_letters(0);
    if (lane_ == 0) read_border(tile, 0);
  }

  __device__ void read_letters(int column) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      letter_[half] = column < pairs_.n_columns[half] ? pairs_.target[half][column] : 0u;
  }

  __device__ __forceinline__ void fill_column(int tile, int column, I16x2 d_above, I16x2 f) {
    const I16x2Selector selector = i16x2_selector(letter_[0], letter_[1]);
    read_letters(column + 1);
    I16x2 d_diagonal = d_diagonal_;
    d_diagonal_ = d_above;
    I16x2 column_best = tile_best_;
    const I16x2 floor = i16x2(bias_, bias_);
    I16x2 h_even = floor;
    std::uint32_t trace[kTrace ? kChunks : 1] = {};
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const I16x2Offset score = {i16x2_select(word_[0][r], word_[1][r], selector).bits};
      const I16x2 diagonal = i16x2_shifted(d_diagonal, score);
      d_diagonal = d_[r];
      const I16x2 h = i16x2_max3(diagonal, e_[r], f);
      d_[r] = i16x2_shifted(h, lower_);
      const I16x2 opened = i16x2_shifted(h, open_);
      if constexpr (kTrace) {
        const I16x2 e_extended = i16x2_shifted(e_[r], extend_);
        const I16x2 f_extended = i16x2_shifted(f, extend_);
        // Each comparison as the bit that its row has in the trace. What opens is lowered once for
        // both: two additions of two numbers can leave the packed pipe, one of three cannot.
        constexpr std::uint32_t kByte = 0x01000100u, kBits = 0x01010101u;
        const int at = 2 * (r % kPackedTraceCells);
        const I16x2 guarded = i16x2_shifted(h, open_guarded_[r % kPackedTraceCells]);
        const std::uint32_t extends =
            i16x2_high_bytes({e_extended.bits - guarded.bits}, {f_extended.bits - guarded.bits});
        const std::uint32_t sources =
            i16x2_high_bytes(i16x2_at_least(diagonal, h, kByte << (at + 1)),
                             i16x2_at_least(f, e_[r], kByte << (at + 1)));
        std::uint32_t& word = trace[r / kPackedTraceCells];
        word = (word & ~(kBits << at)) | (extends & (kBits << at));
        word = (word & ~(kBits << (at + 1))) | (sources & (kBits << (at + 1)));
        e_[r] = kLocal ? i16x2_max3(e_extended, opened, floor) : i16x2_max(e_extended, opened);
        f = i16x2_max(f_extended, opened);
      } else {
        e_[r] = kLocal ? i16x2_max3(i16x2_shifted(e_[r], extend_), opened, floor)
                       : i16x2_add_max(e_[r], extend_halves_, opened);
        f = i16x2_add_max(f, extend_halves_, opened);
      }
      if constexpr (kLocal) {
        if (r % 2 == 1) column_best = i16x2_max3(column_best, h_even, h);
        if (r % 2 == 0 && r + 1 == kRows) column_best = i16x2_max(column_best, h);
        h_even = h;
      }
    }
    f_ = f;
    if constexpr (kTrace) store_trace(tile, column, trace);
    if constexpr (kLocal && kOutput == PackedOutput::score) take_score(column, column_best);
    if constexpr (kLocal && kKeeps) keep_best_of_column(column, column_best);
    if (lane_ == kLanes - 1 && tile + 1 < n_tiles_) {
      pairs_.border[column] = {static_cast<std::int32_t>(d_[kRows - 1].bits),
                               static_cast<std::int32_t>(f_.bits)};
    }
    if constexpr (!kLocal) take_ends(tile, column);
  }

  __device__ __forceinline__ void store_trace(int tile, int column, const std::uint32_t* trace) {
    const std::uint64_t step = static_cast<std::uint64_t>(tile) * n_steps_ + column + lane_;
    std::uint32_t* const words = pairs_.trace + step * (kChunks * kLanes) + lane_;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) words[chunk * kLanes] = trace[chunk];
  }

  // The best of a half counts once, when its last column is done: later ones are not its own.
  __device__ void take_score(int column, I16x2 best) {
    tile_best_ = best;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (column + 1 == pairs_.n_columns[half])
        best_[half].score = greater_of(best_[half].score, half_of(best, half) - bias_);
    }
  }

  // One comparison a column unless a half improves on what this tile has found so far.
  __device__ __forceinline__ void keep_best_of_column(int column, I16x2 best) {
    if (best.bits == tile_best_.bits) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int raised = half_of(best, half);
      if (raised == half_of(tile_best_, half) || column >= pairs_.n_columns[half]) continue;
      found_[half] = {raised, column};
#pragma unroll
      for (int word = 0; word < Kept::kWords; ++word) {
        KeptRows rows;
#pragma unroll
        for (int k = 0; k < 4; ++k) rows.d[k] = d_[4 * word + k < kRows ? 4 * word + k : 0].bits;
        kept_->rows[half][word][threadIdx.x] = rows;
      }
    }
    tile_best_ = best;
  }

  __device__ void take_best_of_tile(int tile) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (found_[half].raised == bias_) continue;
      const PairEnd found = {found_[half].raised - bias_,
                             first_row_ + row_of(found_[half].raised - scheme_.packed_raise, half),
                             found_[half].column};
      if (tile == 0 || is_better(found, best_[half])) best_[half] = found;
    }
  }

  // The first of the lane's rows that holds d in the column that was kept.
  __device__ int row_of(int d, int half) const {
    int row = 0;
#pragma unroll
    for (int word = Kept::kWords - 1; word >= 0; --word) {
      const KeptRows rows = kept_->rows[half][word][threadIdx.x];
#pragma unroll
      for (int k = 3; k >= 0; --k) {
        if (4 * word + k < kRows && half_of({rows.d[k]}, half) == d) row = 4 * word + k;
      }
    }
    return row;
  }

  __device__ __forceinline__ void take_ends_of_last_rows(int column) {
    const int last[2] = {pairs_.n_rows[0] - 1 - first_row_, pairs_.n_rows[1] - 1 - first_row_};
    const auto holds = [&](int half) {
      return static_cast<unsigned>(last[half]) < static_cast<unsigned>(kRows) &&
             column < pairs_.n_columns[half];
    };
    if (!holds(0) && !holds(1)) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) kept_->d[r][threadIdx.x] = d_[r].bits;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!holds(half)) continue;
      const int score = score_of({kept_->d[last[half]][threadIdx.x]}, half);
      if (score > best_in_last_row_[half].score)
        best_in_last_row_[half] = {score, pairs_.n_rows[half] - 1, column};
    }
  }

  // The ends on the last row and the last column of each pair.
  __device__ void take_ends(int tile, int column) {
    if (scheme_.free_target_end && tile + 1 == n_tiles_) take_ends_of_last_rows(column);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int n_rows = pairs_.n_rows[half];
      if (column + 1 != pairs_.n_columns[half]) continue;
      const int first_end = scheme_.free_query_end ? 0 : n_rows - 1;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = first_row_ + r;
        const int score = score_of(d_[r], half);
        if (row >= first_end && row < n_rows && score > best_[half].score)
          best_[half] = {score, row, column};
      }
    }
  }

  // A score as cells hold it, and the column where it was found first.
  struct Found {
    int raised, column;
  };

  const PackedPairs pairs_;
  const CellScheme& scheme_;
  const std::uint32_t* words_;
  Kept* const kept_;
  const int bias_;
  const I16x2Offset lower_;                      // the raise, negated
  const I16x2Offset open_;                       // negated
  const I16x2Offset extend_;                     // negated
  const I16x2 extend_halves_;                    // negated
  I16x2Offset open_guarded_[kPackedTraceCells];  // open_ less the guard of each row of a word
  int lane_;
  int n_columns_;
  int n_tiles_;
  int n_steps_;
  PairEnd best_[2];
  PairEnd best_in_last_row_[2];

  int first_row_ = 0;
  std::uint32_t word_[2][kRows] = {};  // raised scores of a query residue against classes 0..3
  I16x2 d_[kRows] = {};                // of the column before
  I16x2 e_[kRows] = {};                // of the next column
  I16x2 f_ = {};                       // of the row below the lane
  I16x2 d_diagonal_ = {};              // d above the first row, one column before
  I16x2 tile_best_ = {};               // of this lane
  Found found_[2] = {};                // the same, in columns of the pair
  std::uint32_t letter_[2] = {0, 0};   // target classes of the next column
  I16x2 d_border_ = {};                // lane 0: above the next column
  I16x2 f_border_ = {};
};

}  // namespace biogpu::gpu::align
