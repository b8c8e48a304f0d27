// One pair by anti-diagonals, a vector along each.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/banded/banded_xdrop.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/align/cpu/banded/banded_cells.hpp"
#include "lib/align/cpu/banded/banded_xdrop.hpp"
#include "lib/align/cpu/group/group.hpp"
#include "lib/align/cpu/score_code-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Below every value that require_int32() lets a cell have, and far enough above the end of the
// range for the two steps that start from it before it is set again.
inline constexpr std::int32_t kDead = -(1 << 30) - (1 << 29);

// H, E and F of one anti-diagonal, by a.
struct Line {
  std::int32_t *h, *e, *f;
  void kill(std::int64_t a) const { h[a] = e[a] = f[a] = kDead; }
};

template <bool kSmall, bool kTrace>
class BandedKernel {
 public:
  BandedKernel(const BandedJob& job, BandedResult& result)
      : options_(*job.options),
        job_(job),
        result_(result),
        lanes_(static_cast<std::int64_t>(hn::Lanes(D32()))),
        m_(std::ssize(job.query)),
        n_(std::ssize(job.target)),
        band_(*job.options, m_, n_),
        picker_(*job.options, m_, n_) {
    allocate();
  }

  void run() {
    const bool extension = is_extension(options_), local = options_.mode == Mode::local;
    AntidiagonalWindow living{0, 0}, before{0, -1};
    lines_[0].h[0] = 0;
    lines_[0].e[0] = lines_[0].f[0] = kDead;
    lines_[0].kill(-1);
    lines_[0].kill(1);
    for (std::int64_t d = 1; d <= m_ + n_ && !(living.empty() && before.empty()); ++d) {
      const Line line = lines_[d % 3];
      const AntidiagonalWindow window = window_of(d, living, before);
      fill(d, window);
      before = living;
      living = window;
      if (extension) living = drop(line, window);
      if (local) {
        take_best(d, line, living);
      } else {
        offer(d, line, window);
      }
    }
    if (!local) result_.end = picker_.pick();
  }

 private:
  void allocate() {
    // Cells -1 .. m + 1, and what the last vector writes beyond.
    const std::int64_t words = m_ + 3 + lanes_;
    auto* memory = job_.scratch->h.get<std::int32_t>(9 * words);
    for (int k = 0; k < 3; ++k) {
      std::int32_t* at = memory + 3 * k * words + 1;
      lines_[k] = {at, at + words, at + 2 * words};
    }
    std::fill_n(memory, 9 * words, kDead);
    auto* query = job_.scratch->query.get<std::int32_t>(m_ + lanes_);
    auto* target = job_.scratch->target.get<std::int32_t>(n_ + 2 * lanes_);
    std::fill_n(query, m_ + lanes_, Coder<kSmall>::query_code(kMaxClasses));
    std::fill_n(target, n_ + 2 * lanes_, Coder<kSmall>::target_code(kMaxClasses));
    for (std::int64_t i = 0; i < m_; ++i) query[i] = Coder<kSmall>::query_code(job_.query[i]);
    for (std::int64_t j = 0; j < n_; ++j)
      target[lanes_ + n_ - 1 - j] = Coder<kSmall>::target_code(job_.target[j]);
    query_ = query;
    target_ = target + lanes_;
    if constexpr (kTrace) {
      result_.trace.lanes = lanes_;
      result_.trace.plane_bytes = std::max<std::int64_t>(1, lanes_ / 8);
      result_.trace.lines.assign(static_cast<std::size_t>(m_ + n_ + 1), {});
      result_.trace.planes.clear();
    }
  }

  // Cells in the matrix, in the band, and next to a living one.
  AntidiagonalWindow window_of(std::int64_t d, const AntidiagonalWindow& living,
                               const AntidiagonalWindow& before) const {
    AntidiagonalWindow window{std::max<std::int64_t>(0, d - n_), std::min(d, m_)};
    // low <= d - 2 a <= high, rounded inwards; both sums are 0 or more but for rounding's sake.
    window.low = std::max(window.low, (d - band_.high + 1) >> 1);
    window.high = std::min(window.high, (d - band_.low) >> 1);
    if (is_extension(options_)) {
      std::int64_t low = window.high + 1, high = window.low - 1;
      if (!living.empty()) {
        low = living.low;
        high = living.high + 1;
      }
      if (!before.empty()) {
        low = std::min(low, before.low + 1);
        high = std::max(high, before.high + 1);
      }
      window = {std::max(window.low, low), std::min(window.high, high)};
    }
    return window;
  }

  void fill(std::int64_t d, const AntidiagonalWindow& window) {
    const Line line = lines_[d % 3];
    fill_vectors(d, window, line);
    if (window.low <= 0) set_border(line, 0, top_border(options_, d));
    if (window.high >= d) set_border(line, d, left_border(options_, d));
    line.kill(window.low - 1);
    line.kill(window.high + 1);
  }

  static void set_border(const Line& line, std::int64_t a, std::int64_t h) {
    line.h[a] = static_cast<std::int32_t>(h);
    line.e[a] = line.f[a] = kDead;
  }

  HWY_NOINLINE void fill_vectors(std::int64_t d, const AntidiagonalWindow& window,
                                 const Line& line) {
    const D32 tag;
    const Line last = lines_[(d + 2) % 3], older = lines_[(d + 1) % 3];
    const V32 open = hn::Set(tag, options_.scoring.gap_open);
    const V32 extend = hn::Set(tag, options_.scoring.gap_extend);
    const V32 floor = hn::Set(tag, begins_anywhere(options_) ? 0 : kDead);
    [[maybe_unused]] std::uint8_t* out = nullptr;
    if constexpr (kTrace) out = start_line(d, window);
    const std::int64_t first = std::max<std::int64_t>(window.low, 1);
    if constexpr (kTrace) result_.trace.lines[static_cast<std::size_t>(d)].first = first;
    for (std::int64_t a = first; a <= window.high; a += lanes_) {
      const V32 score = Coder<kSmall>::score(hn::LoadU(tag, query_ + a - 1),
                                             hn::LoadU(tag, target_ + n_ - d + a), *job_.scores);
      const V32 diagonal = hn::Add(hn::LoadU(tag, older.h + a - 1), score);
      const V32 e = hn::Max(hn::Sub(hn::LoadU(tag, last.e + a), extend),
                            hn::Sub(hn::LoadU(tag, last.h + a), open));
      const V32 f = hn::Max(hn::Sub(hn::LoadU(tag, last.f + a - 1), extend),
                            hn::Sub(hn::LoadU(tag, last.h + a - 1), open));
      const V32 h = hn::Max(hn::Max(diagonal, floor), hn::Max(e, f));
      hn::StoreU(h, tag, line.h + a);
      hn::StoreU(e, tag, line.e + a);
      hn::StoreU(f, tag, line.f + a);
      if constexpr (kTrace) {
        const std::int64_t bytes = result_.trace.plane_bytes;
        const V32 opened = hn::Sub(h, open);
        hn::StoreMaskBits(tag, hn::Eq(h, diagonal), out);
        hn::StoreMaskBits(tag, hn::Eq(h, f), out + bytes);
        hn::StoreMaskBits(tag, hn::Gt(opened, hn::Sub(f, extend)), out + 2 * bytes);
        hn::StoreMaskBits(tag, hn::Gt(opened, hn::Sub(e, extend)), out + 3 * bytes);
        out += 4 * bytes;
      }
    }
  }

  // Makes room for the bits of an anti-diagonal.
  std::uint8_t* start_line(std::int64_t d, const AntidiagonalWindow& window) {
    BandedTrace& trace = result_.trace;
    const std::int64_t vectors = std::max<std::int64_t>(0, window.high - window.low) / lanes_ + 1;
    const auto at = static_cast<std::int64_t>(trace.planes.size());
    trace.lines[static_cast<std::size_t>(d)].at = at;
    trace.planes.resize(static_cast<std::size_t>(at + vectors * 4 * trace.plane_bytes));
    return trace.planes.data() + at;
  }

  // Kills the cells that have dropped too far; returns the window of those that live.
  HWY_NOINLINE AntidiagonalWindow drop(const Line& line, const AntidiagonalWindow& window) {
    const std::int64_t least = std::int64_t{greatest_} - options_.xdrop;
    AntidiagonalWindow living{window.high + 1, window.low - 1};
    std::int32_t greatest = greatest_;
    for (std::int64_t a = window.low; a <= window.high; ++a) {
      if (line.h[a] < least || line.h[a] <= kDead / 4 * 3) {
        line.kill(a);
        continue;
      }
      greatest = std::max(greatest, line.h[a]);
      living.low = std::min(living.low, a);
      living.high = a;
    }
    greatest_ = greatest;
    return living;
  }

  // The best cell; among equals the smallest column, then the smallest row.
  HWY_NOINLINE void take_best(std::int64_t d, const Line& line, const AntidiagonalWindow& window) {
    EndPicker::End& end = result_.end;
    const std::int64_t low = std::max<std::int64_t>(window.low, 1);
    const std::int64_t high = std::min(window.high, d - 1);
    const D32 tag;
    std::int64_t a = low;
    V32 most = hn::Set(tag, kDead);
    for (; a + lanes_ <= high + 1; a += lanes_) most = hn::Max(most, hn::LoadU(tag, line.h + a));
    std::int64_t best = hn::GetLane(hn::MaxOfLanes(tag, most));
    for (; a <= high; ++a) best = std::max<std::int64_t>(best, line.h[a]);
    if (best <= 0 || best < end.score) return;
    a = high;
    while (line.h[a] != best) --a;
    const std::int64_t i = a - 1, j = d - a - 1;
    if (best > end.score || j < end.j || (j == end.j && i < end.i)) end = {best, i, j};
  }

  void offer(std::int64_t d, const Line& line, const AntidiagonalWindow& window) {
    const std::int64_t column_a = d - n_;
    if (column_a >= 1 && window.low <= column_a && column_a <= window.high)
      picker_.offer_column(column_a - 1, line.h[column_a]);
    if (d > m_ && window.low <= m_ && m_ <= window.high) picker_.offer_row(d - m_ - 1, line.h[m_]);
  }

  const Options& options_;
  const BandedJob& job_;
  BandedResult& result_;
  const std::int64_t lanes_, m_, n_;
  const Band band_;
  EndPicker picker_;
  Line lines_[3];
  const std::int32_t* query_ = nullptr;
  const std::int32_t* target_ = nullptr;
  std::int32_t greatest_ = 0;
};

template <bool kTrace>
void run_diagonals_of(const BandedJob& job, BandedResult& result) {
  if (job.small_table) {
    BandedKernel<true, kTrace>(job, result).run();
  } else {
    BandedKernel<false, kTrace>(job, result).run();
  }
}

void run_diagonals(const BandedJob& job, BandedResult& result) {
  wants_path(*job.options) ? run_diagonals_of<true>(job, result)
                           : run_diagonals_of<false>(job, result);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::align {

HWY_EXPORT(run_diagonals);

void align_banded(const BandedJob& job, BandedResult& result) {
  HWY_DYNAMIC_DISPATCH(run_diagonals)(job, result);
}

Alignment align_banded_pair(const Options& options, const PairScores& scores,
                            std::span<const std::uint8_t> query,
                            std::span<const std::uint8_t> target, Scratch& scratch,
                            std::vector<std::uint32_t>& cigar) {
  const BandedJob job{&options, &scores, has_small_table(options.scoring), query, target, &scratch};
  BandedResult result;
  align_banded(job, result);
  const EndPicker::End end = result.end;
  Alignment row;
  row.score = static_cast<std::int32_t>(end.score);
  if (options.output == Output::score || (options.mode == Mode::local && end.score == 0))
    return row;
  row.query_end = static_cast<std::int32_t>(end.i);
  row.target_end = static_cast<std::int32_t>(end.j);
  if (!wants_path(options)) return row;
  Traceback traceback(options, query, target);
  traceback.start(end.i, end.j, end.score);
  traceback.run(0, [&](std::int64_t i, std::int64_t j) { return result.trace.cell(i, j); });
  traceback.finish(row, cigar);
  return row;
}

}  // namespace biogpu::align
#endif
