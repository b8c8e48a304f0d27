#pragma once

// Device code: fills a tile of rows of two tracks of queries against one target for
// search_score.hip.
//   h = max(diagonal + S, E, F)
//   o = h - open
//   E of the next column = max(E - extend, o, 0);  F of the next row = max(F - extend, o)
// The floor of a local alignment is taken in E, where an operation has room for it: a path of E
// that is worth less than 0 never wins against beginning a new path.
#include "gpu/align/search/search_score.hpp"
#include "gpu/prim/device_flag.hpp"
#include "gpu/prim/i16x2.hpp"
#include "gpu/prim/pin_shared_address.hpp"
#include "gpu/prim/unroll.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// Steps whose border cells lie in shared memory at a time, and how many the loop takes a round.
inline constexpr int kStagedSteps = 64;
inline constexpr int kStepsOfRound = kUnrolledRounds;

// What cells are and how they add up. Small cells have no floor but 0, and no sum of theirs
// borrows, so that negative numbers need no room.
template <SearchCells kCells>
class SearchSums {
 public:
  using Score = I16x2Small;
  static constexpr bool kSmall = true;

  __device__ explicit SearchSums(const SearchArgs& a)
      : open_{a.small_open}, extend_(i16x2(-a.gap_extend, -a.gap_extend)) {}

  __device__ I16x2 floor() const { return {0}; }
  __device__ I16x2 border_f() const { return {0}; }
  __device__ I16x2 add(I16x2 h, Score score) const { return i16x2_add_small(h, score); }
  __device__ I16x2 opened(I16x2 h) const { return i16x2_add_small(h, open_); }
  __device__ I16x2 next_e(I16x2 e, I16x2 opened) const {
    return i16x2_add_max_relu(e, extend(), opened);
  }
  __device__ I16x2 next_f(I16x2 f, I16x2 opened) const {
    return i16x2_add_max(f, extend(), opened);
  }

 private:
  // A number in the code takes no port of the register file, which is as scarce as the pipe.
  __device__ I16x2 extend() const {
    if constexpr (kCells == SearchCells::unit) return {0xffffffffu};
    return extend_;
  }

  const I16x2Equal open_;
  const I16x2 extend_;
};

template <>
class SearchSums<SearchCells::wide> {
 public:
  using Score = I16x2Offset;
  static constexpr bool kSmall = false;

  __device__ explicit SearchSums(const SearchArgs& a)
      : open_(i16x2_offset(-a.gap_open, -a.gap_open)),
        extend_plain_(i16x2_offset(-a.gap_extend, -a.gap_extend)),
        extend_(i16x2(-a.gap_extend, -a.gap_extend)),
        floor_(i16x2(a.bias, a.bias)) {}

  __device__ I16x2 floor() const { return floor_; }
  __device__ I16x2 border_f() const { return i16x2_shifted(floor_, open_); }
  __device__ I16x2 add(I16x2 h, Score score) const { return i16x2_shifted(h, score); }
  __device__ I16x2 opened(I16x2 h) const { return i16x2_shifted(h, open_); }
  __device__ I16x2 next_e(I16x2 e, I16x2 opened) const {
    return i16x2_max3(i16x2_shifted(e, extend_plain_), opened, floor_);
  }
  __device__ I16x2 next_f(I16x2 f, I16x2 opened) const { return i16x2_add_max(f, extend_, opened); }

 private:
  const I16x2Offset open_;
  const I16x2Offset extend_plain_;
  const I16x2 extend_;
  const I16x2 floor_;
};

// The scores of 4 neighbouring rows.
struct alignas(16) ProfileWord {
  std::uint32_t row[4];
};

// One tile of a bundle against one target.
struct SearchTile {
  const std::uint8_t* letters;  // of the target
  // [n_columns] above it and then below it, but of the first and the last tile. Split, one more for
  // the best so far.
  BorderCell* border;
  // Split: columns that the wave of the tile above, and that of this one, have left; one more once
  // the best so far is there too. A counter for each tile, as several of a bundle run at once.
  const std::uint32_t* above;
  std::uint32_t* below;
  int n_columns;
  bool is_first;
  bool is_last;
  bool is_split;  // the tiles are filled by several blocks
};

template <int kRows>
struct ProfileShape {
  static constexpr int kChunks = kRows / 4;
  static constexpr int kWordsOfLetter = kChunks * kSearchLanes;  // ProfileWord
};

// One lane: its rows of the current tile of both tracks against one target.
template <int kWave, int kRows, SearchCells kCells>
class SearchLane {
 public:
  using Shape = ProfileShape<kRows>;
  using Sums = SearchSums<kCells>;

  // staged: kStagedSteps cells of shared memory for reading and as many for writing, of this group
  // alone.
  __device__ SearchLane(const SearchArgs& a, const ProfileWord* profile, BorderCell* staged)
      : sums_(a),
        profile_(pin_shared_address(profile + wave_lane<kWave>() % kSearchLanes)),
        staged_(pin_shared_address(staged)),
        lane_(wave_lane<kWave>() % kSearchLanes) {}

  // All lanes of the wave together, before fill(): what the lane holds in this tile.
  __device__ void begin_tile(const SearchLaneRows& low, const SearchLaneRows& high) {
    kept_ = halves(low.depth > 0, high.depth > 0);
    kept_of_first_ = wave_shuffle<kWave>(kept_, 0, kSearchLanes);
    // An empty query begins too: nothing may reach it from the one before.
    const auto begins_here = [](const SearchLaneRows& rows) {
      return rows.depth == 0 && (rows.n_rows > 0 || rows.slot >= 0);
    };
    const bool begins = begins_here(low) || begins_here(high);
    is_cut_ = wave_ballot<kWave>(lane_ > 0 && begins) != 0;
    best_ = sums_.floor();
  }

  // All lanes of the wave together.
  __device__ void fill(const SearchTile& tile) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      h_[r] = sums_.floor();
      e_[r] = sums_.floor();
    }
    f_ = sums_.border_f();
    h_diagonal_ = sums_.floor();
    // Before its first column and behind the last a lane meets padding, which changes nothing.
    letter_at_ = tile.letters - lane_;
    letter_ = *letter_at_;
    const int n_steps = tile.n_columns + kSearchLanes - 1;
    reached_ = 0;
#pragma unroll 1
    for (int begin = 0; begin < n_steps; begin += kStagedSteps) {
      const int end = begin + kStagedSteps < tile.n_columns ? begin + kStagedSteps : tile.n_columns;
      await_above(tile, end);
      stage_border(tile.border, begin, tile.is_first ? 0 : tile.n_columns);
      const int n = n_steps - begin < kStagedSteps ? n_steps - begin : kStagedSteps;
      // The same for all lanes: queries begin in few tiles.
      if (is_cut_) {
        fill_steps<true>(n);
      } else {
        fill_steps<false>(n);
      }
      if (tile.is_last) continue;
      store_border(tile.border, begin, tile.n_columns);
      // The rest follows with the best of all.
      const int n_left = begin + n - (kSearchLanes - 1);
      if (n_left > 0 && n_left < tile.n_columns) announce(tile, n_left);
    }
  }

  // After fill(), all lanes of the wave together: the best of each query as far as this lane, in
  // both tracks.
  __device__ I16x2 finish_tile(const SearchTile& tile, const SearchLaneRows& low,
                               const SearchLaneRows& high) {
    I16x2 best = best_;
#pragma unroll
    for (int distance = 1; distance < kSearchLanes; distance *= 2) {
      const std::uint32_t other = wave_shuffle_up<kWave>(best.bits, distance, kSearchLanes);
      best = i16x2_max(best, {other & halves(low.depth >= distance, high.depth >= distance)});
    }
    if (tile.is_split && !tile.is_first) {
      await_above(tile, tile.n_columns + 1);
      wave_sync<kWave>();
      carried_ = {static_cast<std::uint32_t>(tile.border[tile.n_columns].h)};
    }
    best = i16x2_max(best, {carried_.bits & halves(low.depth > lane_, high.depth > lane_)});
    carried_ = {wave_shuffle<kWave>(best.bits, kSearchLanes - 1, kSearchLanes)};
    if (tile.is_split && !tile.is_last) {
      if (lane_ == 0) tile.border[tile.n_columns] = cell_of(carried_, carried_);
      announce(tile, tile.n_columns + 1);
    }
    return best;
  }

 private:
  static __device__ std::uint32_t halves(bool low, bool high) {
    return (low ? 0xffffu : 0u) | (high ? 0xffff0000u : 0u);
  }
  static __device__ BorderCell cell_of(I16x2 h, I16x2 f) {
    return {static_cast<std::int32_t>(h.bits), static_cast<std::int32_t>(f.bits)};
  }
  // What comes from above in the halves that are kept, the border of the matrix in the others.
  __device__ __forceinline__ I16x2 cut(I16x2 above, I16x2 border, std::uint32_t kept) const {
    return {(above.bits & kept) | (border.bits & ~kept)};
  }

  // Before a wave_sync(): the tile above, if another block fills it, has left so many columns.
  __device__ __forceinline__ void await_above(const SearchTile& tile, int columns) {
    if (!tile.is_split || tile.is_first) return;
    const auto needed = static_cast<std::uint32_t>(columns);
    if (wave_ballot<kWave>(reached_ < needed) != 0)
      reached_ = wave_wait_acquire<kWave>(tile.above, needed);
  }

  __device__ __forceinline__ void announce(const SearchTile& tile, int columns) const {
    if (!tile.is_split) return;
    wave_sync<kWave>();
    if (wave_lane<kWave>() == 0) store_release(tile.below, static_cast<std::uint32_t>(columns));
  }

  // The cells above the columns from begin on, as lane 0 meets them; the border of the matrix where
  // there are none. One by one, each step would wait for the memory.
  __device__ __forceinline__ void stage_border(const BorderCell* border, int begin,
                                               int n_columns) const {
    wave_sync<kWave>();  // the last cells are no longer read
    for (int i = lane_; i < kStagedSteps; i += kSearchLanes) {
      I16x2 h = sums_.floor(), f = sums_.border_f();
      if (begin + i < n_columns) {
        const BorderCell cell = border[begin + i];
        h = cut({static_cast<std::uint32_t>(cell.h)}, h, kept_of_first_);
        f = cut({static_cast<std::uint32_t>(cell.gap)}, f, kept_of_first_);
      }
      staged_[i] = cell_of(h, f);
    }
    wave_sync<kWave>();
  }

  // The cells below, which the last lane left: its column is kSearchLanes - 1 behind the step.
  __device__ __forceinline__ void store_border(BorderCell* border, int begin, int n_columns) const {
    wave_sync<kWave>();
    for (int i = lane_; i < kStagedSteps; i += kSearchLanes) {
      const int column = begin + i - (kSearchLanes - 1);
      if (column >= 0 && column < n_columns) border[column] = staged_[kStagedSteps + i];
    }
  }

  // n steps and as many more as make the last round whole, which meet padding. kCut: lanes but the
  // first may begin a query.
  template <bool kCut>
  __device__ __forceinline__ void fill_steps(int n) {
#pragma unroll 1
    for (int round = 0; round < n; round += kStepsOfRound) {
#pragma unroll
      for (int k = 0; k < kStepsOfRound; ++k) {
        BorderCell* const cell = staged_ + round + k;
        I16x2 h_above = {wave_shuffle_up<kWave>(h_[kRows - 1].bits, 1, kSearchLanes)};
        I16x2 f_above = {wave_shuffle_up<kWave>(f_.bits, 1, kSearchLanes)};
        if constexpr (kCut) {
          h_above = cut(h_above, sums_.floor(), kept_);
          f_above = cut(f_above, sums_.border_f(), kept_);
        }
        const BorderCell first = *cell;
        if (lane_ == 0) {
          h_above = {static_cast<std::uint32_t>(first.h)};
          f_above = {static_cast<std::uint32_t>(first.gap)};
        }
        const ProfileWord* const words = profile_ + letter_ * Shape::kWordsOfLetter;
        letter_ = letter_at_[k + 1];
        fill_column(words, f_above);
        h_diagonal_ = h_above;
        if (lane_ == kSearchLanes - 1) cell[kStagedSteps] = cell_of(h_[kRows - 1], f_);
      }
      letter_at_ += kStepsOfRound;
    }
  }

  __device__ __forceinline__ void fill_column(const ProfileWord* words, I16x2 f) {
    using Score = typename Sums::Score;
    I16x2 h_diagonal = h_diagonal_;
#pragma unroll
    for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
      const ProfileWord scores = words[chunk * kSearchLanes];
      I16x2 h[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        h[k] = sums_.add(k == 0 ? h_diagonal : h_[4 * chunk + k - 1], Score{scores.row[k]});
      h_diagonal = h_[4 * chunk + 3];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int r = 4 * chunk + k;
        h_[r] = i16x2_max3(h[k], e_[r], f);
        const I16x2 opened = sums_.opened(h_[r]);
        e_[r] = sums_.next_e(e_[r], opened);
        f = sums_.next_f(f, opened);
        if (k % 2 == 1) best_ = i16x2_max3(best_, h_[r - 1], h_[r]);
      }
    }
    f_ = f;
  }

  const Sums sums_;
  const ProfileWord* const profile_;
  BorderCell* const staged_;
  const int lane_;
  std::uint32_t kept_ = 0;           // halves that take what comes from above
  std::uint32_t kept_of_first_ = 0;  // those of lane 0
  std::uint32_t reached_ = 0;        // *SearchTile::above as it was last seen
  bool is_cut_ = false;              // some other lane of the wave begins a query
  I16x2 best_ = {};                  // of the lane's rows in this tile
  I16x2 carried_ = {};               // of the query that goes on in the next tile, before it

  const std::uint8_t* letter_at_ = nullptr;
  unsigned letter_ = 0;    // of the next step
  I16x2 h_diagonal_ = {};  // above the first row, one column before
  I16x2 h_[kRows];         // of the column before
  I16x2 e_[kRows];         // of the next column
  I16x2 f_ = {};           // of the row below the lane
};

}  // namespace biogpu::gpu::align
