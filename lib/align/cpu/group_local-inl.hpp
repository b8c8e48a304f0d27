// Local alignment of a group: columns in passes of four, rows inside, a vector holds one cell of
// each lane. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_LOCAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_LOCAL_INL
#undef BIOGPU_ALIGN_GROUP_LOCAL_INL
#else
#define BIOGPU_ALIGN_GROUP_LOCAL_INL
#endif

#include <algorithm>
#include <limits>

#include "lib/align/cpu/group_lanes-inl.hpp"
#include "lib/align/cpu/group_source-inl.hpp"
#include "lib/align/cpu/local_ends-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Plain additions: they run on more ports than saturating ones. A value passes the highest one by
// less than the room above it before its lane is given up; the room below is that of GroupRange.
// Padding scores 0 and so never raises a best score.
//
// Where a lane's best comes near the top, its floor is raised: values below are lost and count as
// the new floor. A path from there is worth less, at its end, than the lane's `reach_`; a final
// best above that is exact, and so is every cell of its path. Else the lane counts as saturated.
template <class T, class Source, Want kWant>
class LocalKernel {
 public:
  using V = hn::Vec<Tag<T>>;
  static constexpr bool kEnds = kWant != Want::score;
  static constexpr bool kTrace = kWant == Want::trace;
  // Whether the columns of a pass may be skewed: Source::skew_of().
  static constexpr bool kSkewable = [] {
    if constexpr (requires { Source::kThresholds; }) {
      return kWant == Want::score && Source::kThresholds;
    } else {
      return false;
    }
  }();

  LocalKernel(const GroupJob& job, GroupResult& result)
      : job_(job),
        result_(result),
        shape_(job),
        lanes_(static_cast<std::int64_t>(hn::Lanes(Tag<T>()))),
        range_(*job.options, sizeof(T) == 1),
        open_(hn::Set(Tag<T>(), static_cast<T>(job.options->scoring.gap_open))),
        extend_(hn::Set(Tag<T>(), static_cast<T>(job.options->scoring.gap_extend))),
        floor_(hn::Set(Tag<T>(), static_cast<T>(range_.local_zero))),
        best_(floor_),
        source_(job, shape_.n_rows, shape_.n_columns, 0),
        corner_(floor_) {
    if constexpr (kSkewable) skew_ = Source::skew_of(*job.options);
    // H is kept as the last column of a pass has it, E as the one behind.
    range_.local_highest -= kMostColumns * skew_;
    h_floor_ = raised(kMostColumns - 1);
    least_e_ = hn::Sub(raised(kMostColumns), open_);
    corner_ = h_floor_;
  }

  void run() {
    const Tag<T> d;
    // Scores alone may be computed by tiles of rows, whose columns stay in the first cache. Ends
    // and floors that rise need whole columns.
    const bool tiled = !kEnds && shape_.n_rows > kTileRows;
    const std::int64_t tile_rows = tiled ? kTileRows : shape_.n_rows;
    h_ = job_.scratch->h.get<T>(tile_rows * lanes_);
    e_ = job_.scratch->e.get<T>(tile_rows * lanes_);
    if (tiled) start_border();
    if constexpr (kTrace) result_.trace = start_trace(*job_.scratch, shape_, lanes_ / 8);
    max_score_ = std::max(job_.options->scoring.max_score(), 0);
    // A pass must not carry a value from below the trigger past the top.
    trigger_ = range_.local_highest - kMostColumns * max_score_;
    const bool may_raise = sizeof(T) == 1 && !tiled && trigger_ - range_.local_zero >= kLeastRoom;
    const V trigger = hn::Set(d, static_cast<T>(may_raise ? trigger_ : 0));
    for (first_row_ = 0; first_row_ < shape_.n_rows; first_row_ += tile_rows) {
      n_rows_ = std::min(tile_rows, shape_.n_rows - first_row_);
      for (std::int64_t i = 0; i < n_rows_; ++i) {
        hn::Store(h_floor_, d, h_ + i * lanes_);
        hn::Store(least_e_, d, e_ + i * lanes_);
      }
      corner_ = h_floor_;
      std::int64_t j = 0;
      if constexpr (kSkewable) {
        // The last pass may hold columns of padding.
        for (; skew_ > 0 && j < shape_.n_columns; j += kMostColumns) {
          if (may_raise) raise_floors(hn::Gt(best_, trigger), j);
          pass<kMostColumns, true>(j);
        }
      }
      for (; j + kMostColumns <= shape_.n_columns; j += kMostColumns) {
        if (may_raise) raise_floors(hn::Gt(best_, trigger), j);
        pass<kMostColumns>(j);
      }
      for (; j < shape_.n_columns; ++j) {
        if (may_raise) raise_floors(hn::Gt(best_, trigger), j);
        pass<1>(j);
      }
    }
    finish();
  }

 private:
  static constexpr std::int64_t kLeastRoom = 48;
  // Rows of which H and E take 256 KiB, well within the second cache, whose lines come in time: the
  // scores of a pass, made once a tile, then take little beside its cells.
  static constexpr auto kTileRows =
      static_cast<std::int64_t>(131072 / (hn::MaxLanes(Tag<T>()) * sizeof(T)));

  // The front of a pass; a value of its own, which no store of H can touch, so that it stays in
  // registers.
  template <int C>
  struct Front {
    typename Source::template Columns<C> columns;
    V open, extend, floor;
    V diagonal[C], f[C], most[C];
    V floors[C], back;  // skewed columns; back: what lies between E of two passes
    T *h, *e;
    std::uint8_t* trace;
  };

  // H and F of the row above a tile, by column.
  void start_border() {
    const Tag<T> d;
    const std::int64_t n_columns =
        (shape_.n_columns + kMostColumns - 1) / kMostColumns * kMostColumns;
    border_ = job_.scratch->border.get<T>(n_columns * 2 * lanes_);
    for (std::int64_t j = 0; j < n_columns; ++j) {
      const V floor = raised(static_cast<int>(j % kMostColumns));
      hn::Store(floor, d, border_ + 2 * j * lanes_);
      hn::Store(hn::Sub(floor, open_), d, border_ + (2 * j + 1) * lanes_);
    }
  }

  template <int C>
  HWY_INLINE void load_border(std::int64_t j, Front<C>& front) {
    const Tag<T> d;
    for (int c = 0; c < C; ++c) {
      front.diagonal[c] = corner_;
      corner_ = hn::Load(d, border_ + 2 * (j + c) * lanes_);
      front.f[c] = hn::Load(d, border_ + (2 * (j + c) + 1) * lanes_);
    }
  }

  // After the last row: each column's diagonal is H of the column before it.
  template <int C>
  HWY_INLINE void store_border(std::int64_t j, const Front<C>& front) {
    const Tag<T> d;
    for (int c = 0; c < C; ++c) {
      const V h =
          c + 1 < C ? front.diagonal[(c + 1) % C] : hn::Load(d, h_ + (n_rows_ - 1) * lanes_);
      hn::Store(h, d, border_ + 2 * (j + c) * lanes_);
      hn::Store(front.f[c], d, border_ + (2 * (j + c) + 1) * lanes_);
    }
  }

  // The floor of column c of a pass.
  HWY_INLINE V raised(int c) const {
    return hn::Add(floor_, hn::Set(Tag<T>(), static_cast<T>(c * skew_)));
  }

  template <int C, bool kSkewed = false>
  HWY_NOINLINE void pass(std::int64_t j) {
    Front<C> front{source_.template columns<C>(j, first_row_),
                   open_,
                   extend_,
                   floor_,
                   {},
                   {},
                   {},
                   {},
                   floor_,
                   h_,
                   e_,
                   nullptr};
    if constexpr (kSkewed) {
      // From one column to the next E stays, F is lowered after the maximum.
      front.open = hn::Sub(open_, extend_);
      front.back = hn::Sub(raised(kMostColumns), floor_);
    }
    if constexpr (kTrace) front.trace = result_.trace.at(0, j);
    V column_best[C];
    for (int c = 0; c < C; ++c) {
      front.floors[c] = kSkewed ? raised(c) : floor_;
      front.diagonal[c] = kSkewed ? raised((c + C - 1) % C) : floor_;
      front.f[c] = hn::Sub(front.floors[c], open_);
      column_best[c] = front.most[c] = kSkewed ? hn::Add(best_, hn::Sub(raised(c), floor_)) : best_;
    }
    const std::int64_t n_rows = n_rows_;
    if constexpr (!kEnds) {
      const bool tiled = border_ != nullptr;
      if (tiled) load_border<C>(j, front);
      if constexpr (kSkewed) {
        for (std::int64_t i = 0; i < n_rows; ++i) skewed_row<C>(i, front);
      } else {
        for (std::int64_t i = 0; i < n_rows; ++i) row<C>(i, front, nullptr);
      }
      if (tiled) store_border<C>(j, front);
      for (int c = 0; c < C; ++c)
        best_ = hn::Max(
            best_, kSkewed ? hn::Sub(front.most[c], hn::Sub(raised(c), floor_)) : front.most[c]);
    } else {
      constexpr int kBlock = LocalEnds<T>::kBlock;
      for (std::int64_t i = 0; i < n_rows;) {
        for (int c = 0; c < C; ++c) front.most[c] = front.floor;
        const std::int64_t first = i, end = std::min(n_rows, i + kBlock);
        for (T* kept = ends_.block(0); i < end; ++i, kept += kMaxLanes) row<C>(i, front, kept);
        ends_.template end_block<C>(front.most, column_best, first);
      }
      ends_.template end_pass<C>(column_best, best_, j);
    }
  }

  // The cells of row i in the columns of a pass; kept: where H of the first column goes.
  template <int C>
  static HWY_INLINE void row(std::int64_t i, Front<C>& front, [[maybe_unused]] T* kept) {
    const Tag<T> d;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Tag<T>()));
    const auto at = front.columns.row(i);
    V left = hn::Load(d, front.h + i * kLanes);
    V e = hn::Load(d, front.e + i * kLanes);
    [[maybe_unused]] std::uint8_t* trace = nullptr;
    if constexpr (kTrace) trace = front.trace + i * GroupTrace::row_bytes(kLanes / 8);
    HWY_UNROLL(4)
    for (int c = 0; c < C; ++c) {
      V from_diagonal, at_least;
      if constexpr (kTrace) {
        // The bit must tell a diagonal below the floor from the floor.
        from_diagonal = hn::Add(front.diagonal[c], front.columns.score(at, c));
        at_least = hn::Max(from_diagonal, front.floor);
      } else {
        at_least = front.columns.from_diagonal(front.diagonal[c], front.floor, at, c);
      }
      front.diagonal[c] = left;
      const V h = hn::Max(hn::Max(at_least, e), front.f[c]);
      const V opened = hn::Sub(h, front.open);
      const V e_extended = hn::Sub(e, front.extend);
      const V f_extended = hn::Sub(front.f[c], front.extend);
      if constexpr (kTrace)
        trace = store_trace(d, trace, hn::Eq(h, from_diagonal), hn::Eq(h, front.f[c]),
                            hn::Gt(opened, f_extended), hn::Gt(opened, e_extended));
      e = hn::Max(e_extended, opened);
      front.f[c] = hn::Max(f_extended, opened);
      front.most[c] = hn::Max(front.most[c], h);
      if constexpr (kEnds) hn::Store(h, d, kept + c * LocalEnds<T>::kBlock * kMaxLanes);
      left = h;
    }
    hn::Store(left, d, front.h + i * kLanes);
    hn::Store(e, d, front.e + i * kLanes);
  }

  // The same where column c is raised by c times what extending a gap costs: E, which goes from
  // column to column, is then not lowered, and F only once for both its sources.
  template <int C>
  static HWY_INLINE void skewed_row(std::int64_t i, Front<C>& front) {
    const Tag<T> d;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Tag<T>()));
    const auto at = front.columns.row(i);
    V left = hn::Load(d, front.h + i * kLanes);
    V e = hn::Sub(hn::Load(d, front.e + i * kLanes), front.back);
    HWY_UNROLL(4)
    for (int c = 0; c < C; ++c) {
      const V at_least = front.columns.from_diagonal(front.diagonal[c], front.floors[c], at, c);
      front.diagonal[c] = left;
      const V h = hn::Max(hn::Max(at_least, e), front.f[c]);
      const V opened = hn::Sub(h, front.open);
      e = hn::Max(e, opened);
      front.f[c] = hn::Sub(hn::Max(front.f[c], opened), front.extend);
      front.most[c] = hn::Max(front.most[c], h);
      left = h;
    }
    hn::Store(left, d, front.h + i * kLanes);
    hn::Store(e, d, front.e + i * kLanes);
  }

  // Before column j: gives the lanes of the mask room above their best score.
  template <class M>
  HWY_INLINE void raise_floors(M near_top, std::int64_t j) {
    if (HWY_LIKELY(hn::AllFalse(Tag<T>(), near_top))) return;
    raise_floors_of(near_top, j);
  }

  template <class M>
  HWY_NOINLINE void raise_floors_of(M near_top, std::int64_t j) {
    const Tag<T> d;
    HWY_ALIGN T best[kMaxLanes] = {}, raised[kMaxLanes] = {};
    hn::Store(best_, d, best);
    const std::int64_t room = trigger_ - range_.local_zero;
    for_each_lane(d, near_top, [&](int lane) {
      if (lane >= std::ssize(job_.lanes)) return;
      const LanePair& pair = job_.lanes[lane];
      const std::int64_t left = std::ssize(pair.target) - j;
      if (left <= 0) return;
      const std::int64_t gain = std::min(std::ssize(pair.query), left) * max_score_;
      // As little as lets the lane end without another rise, within reason.
      const std::int64_t by = std::clamp(best[lane] + gain - trigger_, room / 8, room / 2);
      raised[lane] = static_cast<T>(by);
      base_[lane] += static_cast<std::int32_t>(by);
      reach_[lane] = std::max(reach_[lane], base_[lane] + gain);
    });
    const V by = hn::Load(d, raised);
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      T *h = h_ + i * lanes_, *e = e_ + i * lanes_;
      hn::Store(hn::Max(hn::SaturatedSub(hn::Load(d, h), by), h_floor_), d, h);
      hn::Store(hn::Max(hn::SaturatedSub(hn::Load(d, e), by), least_e_), d, e);
    }
    best_ = hn::SaturatedSub(best_, by);
    if constexpr (kEnds) ends_.lower(by);
  }

  void finish() {
    HWY_ALIGN T best[kMaxLanes] = {};
    hn::Store(best_, Tag<T>(), best);
    const auto n = static_cast<int>(job_.lanes.size());
    for (int lane = 0; lane < n; ++lane) {
      result_.score[lane] = static_cast<std::int32_t>(best[lane] - range_.local_zero) + base_[lane];
      result_.saturated[lane] = best[lane] > range_.local_highest ||
                                (base_[lane] > 0 && reach_[lane] >= result_.score[lane]);
    }
    if constexpr (kEnds) ends_.finish(best, n, result_);
  }

  const GroupJob& job_;
  GroupResult& result_;
  const GroupShape shape_;
  const std::int64_t lanes_;
  GroupRange range_;
  const V open_, extend_, floor_;
  V best_;
  int skew_ = 0;
  V h_floor_, least_e_;  // what H and E of a column that is kept are at least
  Source source_;
  LocalEnds<T> ends_;
  T *h_ = nullptr, *e_ = nullptr, *border_ = nullptr;
  std::int64_t first_row_ = 0, n_rows_ = 0;  // of the tile
  V corner_;                                 // H above and left of the next pass
  std::int64_t max_score_ = 0, trigger_ = 0;
  std::int32_t base_[kMaxLanes] = {};   // what the floors were raised by
  std::int64_t reach_[kMaxLanes] = {};  // what a path from a raised floor could be worth
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
