#pragma once

// Device code: fills the matrix of one pair by anti-diagonals, the waves of a block side by side
// along each. Recurrences of O. Gotoh, doi:10.1016/0022-2836(82)90398-9; a cell leaves to its
// neighbours H, and E and F as they will be in the next column and row, so that it reads three
// numbers. Lines lie in rings of a power of 2 cells, so that a window that wanders needs no more
// room than its width.
#include "gpu/align/banded/banded_xdrop.hpp"
#include "gpu/align/dp_tile.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::align {

// Below every value that a cell may have, and far enough above the end of the range for the two
// steps that start from it before it is set again.
inline constexpr int kDeadCell = -(1 << 30) - (1 << 29);
// What a path from a dead cell is still below.
inline constexpr int kUnreached = kDeadCell / 4 * 3;

// Cells of a line, by a; empty: low above high.
struct LineWindow {
  int low, high;
  __device__ bool empty() const { return low > high; }
};

// What X-drop needs to know of a line: the greatest H so far, and its living cells.
struct LineReport {
  int most, low, high;
};
// What the waves of a block report to each other.
template <int kWaves>
struct BandedShared {
  PairEnd best[kWaves], best_in_last_row[kWaves];
};

// X-drop takes one wave a pair: its window is read off a ballot.
template <int kWave, int kWaves, bool kTrace>
class BandedGroup {
 public:
  static constexpr int kThreads = kWave * kWaves;

  // ring: ring_cells * kRingLines words of shared memory.
  __device__ BandedGroup(const BandedArgs& args, const BandedTask& task, const std::int8_t* scores,
                         int* ring, int ring_cells, BandedShared<kWaves>& shared)
      : a_(args),
        task_(task),
        query_(args.residues + task.query),
        target_(args.residues + task.target),
        scores_(scores),
        shared_(shared),
        ring_(ring),
        cells_(ring_cells),
        thread_(static_cast<int>(threadIdx.x)),
        first_end_(args.scheme.free_query_end ? 0 : task.n_rows - 1),
        drops_(kWaves == 1 && args.xdrop != kNoDrop) {
    best_ = {args.scheme.local || drops_ ? 0 : kImpossible, 0, 0};
    best_in_last_row_ = {kImpossible, 0, 0};
  }

  // All threads of the block call this together.
  __device__ void fill() {
    LineWindow living = {0, 0}, before = {0, -1};
    if (thread_ == 0) {
      put(0, 0, 0, kDeadCell, kDeadCell);
      kill_neighbours(0, living);
    }
    note_line(0, 0);
    sync();
    int d = 1;
    for (; d <= task_.last_line && !(living.empty() && before.empty()); ++d) {
      const LineWindow window = window_of(d, living, before);
      if (window.high - window.low + 1 + kRingMargin > cells_) move_ring(window);
      note_line(d, window.low);
      fill_line(d, window);
      sync();
      before = living;
      living = drops_ ? LineWindow{report_.low, report_.high} : window;
    }
    note_line(d, 0);
    n_lines_ = d;
    sync();
  }

  // The end of the path, in all threads.
  __device__ PairEnd end() {
    PairEnd best = best_of_block(shared_.best, best_);
    if (a_.scheme.local || drops_) return best;
    const PairEnd in_row = best_of_block(shared_.best_in_last_row, best_in_last_row_);
    return choose_end(best, in_row, task_.n_columns - 1);
  }

  // Chunks of the lines up to that of the end.
  __device__ std::uint32_t count_chunks(const PairEnd& end) const {
    const int after = end.row + end.column + 3;
    return a_.lines[task_.lines + static_cast<unsigned>(after < n_lines_ ? after : n_lines_)].chunk;
  }

 private:
  static __device__ void sync() {
    if constexpr (kWaves == 1) {
      wave_sync<kWave>();
    } else {
      __syncthreads();
    }
  }

  __device__ int* h_line(int d) const { return ring_ + d % 3 * cells_; }
  __device__ int* e_line(int d) const { return ring_ + (3 + d % 2) * cells_; }
  __device__ int* f_line(int d) const { return ring_ + (5 + d % 2) * cells_; }

  // H of a cell, and E and F for the next column and row.
  __device__ void put(int d, int a, int h, int e, int f) const {
    const int at = a & (cells_ - 1);
    h_line(d)[at] = h;
    e_line(d)[at] = e;
    f_line(d)[at] = f;
  }
  __device__ void kill_neighbours(int d, const LineWindow& window) const {
    put(d, window.low - 1, kDeadCell, kDeadCell, kDeadCell);
    put(d, window.high + 1, kDeadCell, kDeadCell, kDeadCell);
  }

  __device__ void note_line(int d, int first) {
    if (a_.lines != nullptr && thread_ == 0)
      a_.lines[task_.lines + static_cast<unsigned>(d)] = {first, chunk_};
  }

  // Cells in the matrix, in the band, and next to a living one.
  __device__ LineWindow window_of(int d, const LineWindow& living, const LineWindow& before) const {
    // low <= d - 2 a <= high, rounded inwards.
    LineWindow window = {greater_of(greater_of(0, d - task_.n_columns), (d - task_.high + 1) >> 1),
                         less_of(less_of(d, task_.n_rows), (d - task_.low) >> 1)};
    if (!drops_) return window;
    int low = window.high + 1, high = window.low - 1;
    if (!living.empty()) {
      low = living.low;
      high = living.high + 1;
    }
    if (!before.empty()) {
      low = less_of(low, before.low + 1);
      high = greater_of(high, before.high + 1);
    }
    return {greater_of(window.low, low), less_of(window.high, high)};
  }
  static __device__ int less_of(int a, int b) { return a < b ? a : b; }

  // From shared memory to the pair's own, once a window is too wide. What the next line reads lies
  // in its window and one below.
  __device__ void move_ring(const LineWindow& window) {
    int* const to = a_.rings + task_.ring;
    for (int line = 0; line < kRingLines; ++line) {
      for (int a = window.low - 1 + thread_; a <= window.high; a += kThreads)
        to[line * task_.ring_cells + (a & (task_.ring_cells - 1))] =
            ring_[line * cells_ + (a & (cells_ - 1))];
    }
    ring_ = to;
    cells_ = task_.ring_cells;
    sync();
  }

  __device__ void fill_line(int d, const LineWindow& window) {
    const int* const older = h_line(d + 1);  // two lines before, as three are kept
    const int* const e_last = e_line(d + 1);
    const int* const f_last = f_line(d + 1);
    const int mask = cells_ - 1;
    const int least = drops_ ? greater_of(report_.most - a_.xdrop, kUnreached + 1) : kDeadCell;
    LineReport report = {report_.most, window.high + 1, window.low - 1};
    for (int first = window.low; first <= window.high; first += kThreads) {
      const int a = first + thread_;
      int h = kDeadCell;
      std::uint32_t bits = 0;
      if (a <= window.high) {
        int e = 0, f = 0;
        const bool on_border = a == 0 || a == d;
        if (on_border) {
          h = border_h(a_.scheme.local ||
                           (a == 0 ? a_.scheme.free_target_begin : a_.scheme.free_query_begin),
                       d, a_.scheme);
          e = f = h - a_.scheme.gap_open;
        } else {
          h = fill_cell(older[(a - 1) & mask] + score_of(d, a), e_last[a & mask],
                        f_last[(a - 1) & mask], e, f, bits);
        }
        if (drops_ && h < least) h = e = f = kDeadCell;
        put(d, a, h, e, f);
        if (!on_border) take_end(d, a, h);
      }
      if constexpr (kTrace) store_trace(first - window.low, window.high - window.low, bits);
      if (drops_) look_at(first, h, report);
    }
    if (!window.empty() && chunk_ < kMaxChunks)
      chunk_ += static_cast<std::uint32_t>((window.high - window.low) / kChunkCells + 1);
    if (thread_ == 0) kill_neighbours(d, window);
    report_ = report;
  }

  __device__ __forceinline__ int score_of(int d, int a) const {
    return scores_[target_[d - a - 1] * kScoreStride + query_[a - 1]];
  }

  // e, f: of the cell on the way in, of the next column and row on the way out.
  __device__ __forceinline__ int fill_cell(int diagonal, int e, int f, int& e_next, int& f_next,
                                           std::uint32_t& bits) const {
    const int gap = greater_of(e, f);
    int h = greater_of(diagonal, gap);
    // Compared before the floor, see dp_tile.hpp.
    if constexpr (kTrace) bits = (diagonal >= gap ? 0u : kTraceGap) | (f < e ? kTraceE : 0u);
    if (a_.scheme.local) h = greater_of(h, 0);
    const int opened = h - a_.scheme.gap_open;
    const int e_extended = e - a_.scheme.gap_extend;
    const int f_extended = f - a_.scheme.gap_extend;
    if constexpr (kTrace) {
      if (e_extended >= opened) bits |= kTraceExtendE;
      if (f_extended >= opened) bits |= kTraceExtendF;
    }
    e_next = greater_of(e_extended, opened);
    f_next = greater_of(f_extended, opened);
    return h;
  }

  // first: the cell of thread 0 in the window; last: the last one of the window.
  __device__ void store_trace(int first, int last, std::uint32_t bits) const {
    const std::uint64_t gap = wave_ballot<kWave>((bits & kTraceGap) != 0);
    const std::uint64_t e = wave_ballot<kWave>((bits & kTraceE) != 0);
    const std::uint64_t extends_e = wave_ballot<kWave>((bits & kTraceExtendE) != 0);
    const std::uint64_t extends_f = wave_ballot<kWave>((bits & kTraceExtendF) != 0);
    if (thread_ % kChunkCells != 0 || first + thread_ > last) return;
    const int shift = thread_ % kWave;
    const auto half = [shift](std::uint64_t votes) {
      return static_cast<std::uint32_t>(votes >> shift);
    };
    const int chunk = (first + thread_) / kChunkCells;
    a_.chunks[task_.chunks + chunk_ + static_cast<unsigned>(chunk)] = {
        half(gap), half(e), half(extends_e), half(extends_f)};
  }

  __device__ void take_end(int d, int a, int h) {
    const int row = a - 1, column = d - a - 1;
    if (a_.scheme.local || drops_) {
      if (h <= 0 || h < best_.score) return;
      const PairEnd found = {h, row, column};
      if (is_better(found, best_)) best_ = found;
      return;
    }
    if (column + 1 == task_.n_columns && row >= first_end_ && h > best_.score)
      best_ = {h, row, column};
    if (a_.scheme.free_target_end && row + 1 == task_.n_rows && h > best_in_last_row_.score)
      best_in_last_row_ = {h, row, column};
  }

  // The living among the cells of a wave, the first of which is `first` + its first thread.
  __device__ void look_at(int first, int h, LineReport& report) const {
    const std::uint64_t alive = wave_ballot<kWave>(h != kDeadCell);
    if (alive == 0) return;
    const int begin = first + thread_ / kWave * kWave;
    report.low = less_of(report.low, begin + __ffsll(static_cast<long long>(alive)) - 1);
    report.high = greater_of(report.high, begin + 63 - __clzll(static_cast<long long>(alive)));
    if (wave_ballot<kWave>(h > report.most) != 0)
      report.most = greater_of(report.most, wave_max<kWave>(h));
  }

  static __device__ PairEnd best_of_block(PairEnd* shared, const PairEnd& own) {
    PairEnd best = best_of_group<kWave, kWave>(own);
    if constexpr (kWaves > 1) {
      if (threadIdx.x % kWave == 0) shared[threadIdx.x / kWave] = best;
      __syncthreads();
      for (int wave = 0; wave < kWaves; ++wave) {
        if (is_better(shared[wave], best)) best = shared[wave];
      }
    }
    return best;
  }

  const BandedArgs& a_;
  const BandedTask task_;
  const std::uint8_t* const query_;
  const std::uint8_t* const target_;
  const std::int8_t* const scores_;
  BandedShared<kWaves>& shared_;
  int* ring_;
  int cells_;
  const int thread_;
  const int first_end_;  // first row whose last column ends a path
  const bool drops_;
  int n_lines_ = 0;
  std::uint32_t chunk_ = 0;         // of the line
  LineReport report_ = {0, 0, -1};  // of the line before
  PairEnd best_, best_in_last_row_;
};

}  // namespace biogpu::gpu::align
