#pragma once

// Device code: fills a tile of rows of two tracks of queries against one target for
// search_score.hip.
#include "gpu/align/search_score.hpp"
#include "gpu/prim/packed16.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// Columns that a lane fills in a step, skewed by a row: each is a chain of dependent operations
// from row to row, and two of them keep the pipes busier than one. Steps whose border cells lie in
// shared memory at a time.
inline constexpr int kStepColumns = 2;
inline constexpr int kStagedSteps = 32;

// The border cells of a step.
struct alignas(16) StepBorder {
  BorderCell column[kStepColumns];
};

// The scores of 4 neighbouring rows.
struct alignas(16) ProfileWord {
  Packed16Offset row[4];
};

template <int kRows>
struct ProfileShape {
  static constexpr int kChunks = kRows / 4;
  static constexpr int kWordsOfLetter = kChunks * kSearchLanes;  // ProfileWord
};

// One lane: its rows of the current tile of both tracks against one target.
//   h = max(diagonal + S, E, F)
//   o = h - open
//   E of the next column = max(E - extend, o, 0);  F of the next row = max(F - extend, o)
// The floor of a local alignment is taken in E, where a maximum of three has room for it: a path of
// E that is worth less than 0 never wins against beginning anew.
template <int kWave, int kRows>
class SearchLane {
 public:
  using Shape = ProfileShape<kRows>;

  __device__ SearchLane(const SearchArgs& a, const ProfileWord* profile)
      : profile_(profile + wave_lane<kWave>() % kSearchLanes),
        open_(packed16_offset(-a.gap_open, -a.gap_open)),
        extend_plain_(packed16_offset(-a.gap_extend, -a.gap_extend)),
        extend_(packed16(-a.gap_extend, -a.gap_extend)),
        floor_(packed16(a.bias, a.bias)),
        lane_(wave_lane<kWave>() % kSearchLanes) {}

  // What the lane holds in this tile; before fill().
  __device__ void begin_tile(const SearchLaneRows& low, const SearchLaneRows& high) {
    kept_ = halves(low.depth > 0, high.depth > 0);
    h_border_ = {floor_.bits & ~kept_};
    f_border_ = {packed16_shifted(floor_, open_).bits & ~kept_};
    best_ = floor_;
  }

  // All lanes of the wave together. letters: of this target; border: its cells, read and written as
  // this is not the first, the last tile; staged: kStagedSteps of shared memory for reading and as
  // many for writing, of this group alone.
  __device__ void fill(const std::uint8_t* letters, BorderCell* border, StepBorder* staged,
                       int n_columns, bool is_first, bool is_last) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      h_[r] = floor_;
      e_[r] = floor_;
    }
    h_below_[0] = h_below_[1] = floor_;
    f_below_[0] = f_below_[1] = packed16_shifted(floor_, open_);
    Packed16 h_diagonal = floor_;
    // Before its first column and behind the last a lane meets padding, which changes nothing.
    const std::uint8_t* letter_at = letters - kStepColumns * lane_;
    const int n_steps = (n_columns + kStepColumns - 1) / kStepColumns + kSearchLanes - 1;
    unsigned two_letters = read_letters(letter_at);
#pragma unroll 1
    for (int begin = 0; begin < n_steps; begin += kStagedSteps) {
      stage_border(border, staged, begin, is_first ? 0 : n_columns);
      const int end = n_steps - begin < kStagedSteps ? n_steps - begin : kStagedSteps;
#pragma unroll 1
      for (int step = 0; step < end; ++step) {
        const StepBorder cells = staged[step];
        Packed16 h_above[kStepColumns], f_above[kStepColumns];
#pragma unroll
        for (int k = 0; k < kStepColumns; ++k) {
          h_above[k] = {wave_shuffle_up<kWave>(h_below_[k].bits, 1, kSearchLanes)};
          f_above[k] = {wave_shuffle_up<kWave>(f_below_[k].bits, 1, kSearchLanes)};
          if (lane_ == 0) {
            h_above[k] = {static_cast<std::uint32_t>(cells.column[k].h)};
            f_above[k] = {static_cast<std::uint32_t>(cells.column[k].gap)};
          }
          h_above[k].bits = (h_above[k].bits & kept_) | h_border_.bits;
          f_above[k].bits = (f_above[k].bits & kept_) | f_border_.bits;
        }
        const ProfileWord* first = profile_ + (two_letters & 0xffu) * Shape::kWordsOfLetter;
        const ProfileWord* second = profile_ + (two_letters >> 8) * Shape::kWordsOfLetter;
        letter_at += kStepColumns;
        two_letters = read_letters(letter_at);
        fill_columns(first, second, h_diagonal, h_above, f_above);
        h_diagonal = h_above[1];
        if (lane_ == kSearchLanes - 1) {
          staged[kStagedSteps + step] = {
              {cell_of(h_below_[0], f_below_[0]), cell_of(h_below_[1], f_below_[1])}};
        }
      }
      if (!is_last) store_border(border, staged + kStagedSteps, begin, n_columns);
    }
  }

  // After fill(), all lanes of the wave together: the best of each query as far as this lane, in
  // both tracks.
  __device__ Packed16 finish_tile(const SearchLaneRows& low, const SearchLaneRows& high) {
    Packed16 best = best_;
#pragma unroll
    for (int distance = 1; distance < kSearchLanes; distance *= 2) {
      const std::uint32_t other = wave_shuffle_up<kWave>(best.bits, distance, kSearchLanes);
      best = packed16_max(best, {other & halves(low.depth >= distance, high.depth >= distance)});
    }
    best = packed16_max(best, {carried_.bits & halves(low.depth > lane_, high.depth > lane_)});
    carried_ = {wave_shuffle<kWave>(best.bits, kSearchLanes - 1, kSearchLanes)};
    return best;
  }

 private:
  static __device__ BorderCell cell_of(Packed16 h, Packed16 f) {
    return {static_cast<std::int32_t>(h.bits), static_cast<std::int32_t>(f.bits)};
  }
  // The letters of a step, the first in the low byte.
  static __device__ unsigned read_letters(const std::uint8_t* at) {
    std::uint16_t two;
    __builtin_memcpy(&two, __builtin_assume_aligned(at, kStepColumns), sizeof two);
    return two;
  }

  // The cells above the columns of the steps from begin on, as lane 0 meets them; a floor where
  // there are none. One by one, each step would wait for the memory.
  __device__ __forceinline__ void stage_border(const BorderCell* border, StepBorder* staged,
                                               int begin, int n_columns) const {
    const BorderCell none = cell_of(floor_, packed16_shifted(floor_, open_));
    wave_sync<kWave>();  // nobody reads the last cells any more
    for (int i = lane_; i < kStagedSteps * kStepColumns; i += kSearchLanes) {
      const int column = begin * kStepColumns + i;
      staged[i / kStepColumns].column[i % kStepColumns] =
          column < n_columns ? border[column] : none;
    }
    wave_sync<kWave>();
  }

  // The cells below, which the last lane left: it is kSearchLanes - 1 steps behind the first.
  __device__ __forceinline__ void store_border(BorderCell* border, const StepBorder* staged,
                                               int begin, int n_columns) const {
    wave_sync<kWave>();
    for (int i = lane_; i < kStagedSteps * kStepColumns; i += kSearchLanes) {
      const int column = (begin - (kSearchLanes - 1)) * kStepColumns + i;
      if (column >= 0 && column < n_columns)
        border[column] = staged[i / kStepColumns].column[i % kStepColumns];
    }
  }

  __device__ __forceinline__ void fill_columns(const ProfileWord* first, const ProfileWord* second,
                                               Packed16 h_diagonal, const Packed16* h_above,
                                               const Packed16* f_above) {
    Packed16 h = h_above[0];  // of the first column, the row above
    Packed16 f[kStepColumns] = {f_above[0], f_above[1]};
#pragma unroll
    for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
      const ProfileWord scores[kStepColumns] = {first[chunk * kSearchLanes],
                                                second[chunk * kSearchLanes]};
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int r = 4 * chunk + k;
        const Packed16 diagonal = packed16_shifted(h_diagonal, scores[0].row[k]);
        const Packed16 diagonal_of_second = packed16_shifted(h, scores[1].row[k]);
        h_diagonal = h_[r];
        h = packed16_max3(diagonal, e_[r], f[0]);
        take_gaps(h, e_[r], f[0]);
        h_[r] = packed16_max3(diagonal_of_second, e_[r], f[1]);
        take_gaps(h_[r], e_[r], f[1]);
        best_ = packed16_max3(best_, h, h_[r]);
      }
    }
    h_below_[0] = h;
    h_below_[1] = h_[kRows - 1];
    f_below_[0] = f[0];
    f_below_[1] = f[1];
  }

  // E of the next column and F of the next row.
  __device__ __forceinline__ void take_gaps(Packed16 h, Packed16& e, Packed16& f) const {
    const Packed16 opened = packed16_shifted(h, open_);
    e = packed16_max3(packed16_shifted(e, extend_plain_), opened, floor_);
    f = packed16_add_max(f, extend_, opened);
  }

  static __device__ std::uint32_t halves(bool low, bool high) {
    return (low ? 0xffffu : 0u) | (high ? 0xffff0000u : 0u);
  }

  const ProfileWord* profile_;
  const Packed16Offset open_;          // negated
  const Packed16Offset extend_plain_;  // negated
  const Packed16 extend_;              // negated
  const Packed16 floor_;
  const int lane_;
  std::uint32_t kept_ = 0;  // halves that take what comes from above
  Packed16 h_border_ = {};  // for the others
  Packed16 f_border_ = {};
  Packed16 best_ = {};     // of the lane's rows in this tile
  Packed16 carried_ = {};  // of the query that goes on in the next tile, before it

  Packed16 h_[kRows];                    // of the column before
  Packed16 e_[kRows];                    // of the next column
  Packed16 h_below_[kStepColumns] = {};  // of the last row, in both columns of the last step
  Packed16 f_below_[kStepColumns] = {};  // of the row below the lane
};

}  // namespace biogpu::gpu::align
