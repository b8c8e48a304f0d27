// Local alignment of a group: columns in passes of four or six, rows inside, a vector holds one
// cell of each lane. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_LOCAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_LOCAL_INL
#undef BIOGPU_ALIGN_GROUP_LOCAL_INL
#else
#define BIOGPU_ALIGN_GROUP_LOCAL_INL
#endif

#include <algorithm>
#include <limits>

#include "lib/align/cpu/group/group_lanes-inl.hpp"
#include "lib/align/cpu/group/group_source-inl.hpp"
#include "lib/align/cpu/group/local_border-inl.hpp"
#include "lib/align/cpu/group/local_ends-inl.hpp"
#include "lib/align/cpu/group/local_rows-inl.hpp"

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
    if constexpr (requires { Source::kSkewable; }) {
      return kWant == Want::score && Source::kSkewable;
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
    // The bound of a pass is up to this much above what its cells hold.
    may_bound_ = skew_ > 0 && job.min_score > kSearchColumns * skew_;
    columns_ = may_bound_ ? kSearchColumns : kMaxColumns;
    // H is kept as the last column of a pass has it, E as the one behind.
    range_.local_highest -= columns_ * skew_;
    h_floor_ = raised(columns_ - 1);
    min_e_ = hn::Sub(raised(columns_), open_);
  }

  void run() {
    const Tag<T> d;
    // Scores alone may be computed by tiles of rows, whose columns stay in a near cache. Ends and
    // floors that rise need whole columns.
    const std::int64_t max_rows = kSkewable && !may_bound_ ? 2 * kTileRows : kTileRows;
    const bool tiled = !kEnds && shape_.n_rows > max_rows;
    const std::int64_t tile_rows = tiled ? max_rows : shape_.n_rows;
    const std::int64_t column = tile_rows * lanes_;
    h_ = job_.scratch->h.get<T>(2 * column);
    e_ = job_.scratch->e.get<T>(2 * column);
    h_to_ = may_bound_ ? h_ + column : h_;
    e_to_ = may_bound_ ? e_ + column : e_;
    result_.ended.assign(job_.ends.size(), {});
    if (tiled)
      border_.start(*job_.scratch, whole_passes(shape_.n_columns), open_,
                    [&](std::int64_t j) { return raised(static_cast<int>(j % columns_)); });
    if constexpr (kTrace) result_.trace = start_trace(*job_.scratch, shape_, lanes_ / 8);
    max_score_ = std::max(job_.options->scoring.max_score(), 0);
    // A pass must not carry a value from below the trigger past the top.
    trigger_ = range_.local_highest - columns_ * max_score_;
    const bool may_raise = sizeof(T) == 1 && !tiled && trigger_ - range_.local_zero >= kMinRoom;
    const V trigger = hn::Set(d, static_cast<T>(may_raise ? trigger_ : 0));
    // Where skewed columns leave no room at all, every lane is saturated.
    highest_followed_ =
        std::max<std::int64_t>(range_.local_zero, may_raise ? trigger_ : range_.local_highest);
    for (first_row_ = 0; first_row_ < shape_.n_rows; first_row_ += tile_rows) {
      n_rows_ = std::min(tile_rows, shape_.n_rows - first_row_);
      for (std::int64_t i = 0; i < n_rows_; ++i) {
        hn::Store(h_floor_, d, h_ + i * lanes_);
        hn::Store(min_e_, d, e_ + i * lanes_);
      }
      corner_ = h_floor_;
      next_end_ = 0;
      start_following();
      std::int64_t j = 0;
      if constexpr (kSkewable) {
        // The last pass may hold columns of padding.
        for (; skew_ > 0 && j < shape_.n_columns; j += columns_) {
          end_targets(j);
          if (may_raise) raise_floors(hn::Gt(best_, trigger), j);
          if (may_bound_) {
            pass<kSearchColumns, true>(j);
          } else {
            pass<kMaxColumns, true>(j);
          }
          std::swap(h_, h_to_);
          std::swap(e_, e_to_);
        }
      }
      while (j < shape_.n_columns) {
        end_targets(j);
        if (may_raise) raise_floors(hn::Gt(best_, trigger), j);
        if (j + kMaxColumns <= next_stop()) {
          pass<kMaxColumns>(j);
          j += kMaxColumns;
        } else {
          pass<1>(j);
          ++j;
        }
      }
      end_targets(std::numeric_limits<std::int64_t>::max());
    }
    finish();
  }

 private:
  using Rows = LocalRows<T, Source, kWant>;
  template <int C>
  using Front = typename Rows::template Front<C>;

  static constexpr std::int64_t kMinRoom = 48;
  // Rows of which H and E, before and behind a pass, take 256 KiB, well within the second cache,
  // whose lines come in time: the scores of a pass, made once a tile, then take little compared
  // with its cells. Twice as many where a pass is never computed again, so that H and E are
  // overwritten.
  static constexpr auto kTileRows =
      static_cast<std::int64_t>(65536 / (hn::MaxLanes(Tag<T>()) * sizeof(T)));
  // Passes in a row for which no bound is tried, at most.
  static constexpr int kLongestRun = 16;

  // The floor of column c of a pass.
  HWY_INLINE V raised(int c) const {
    return hn::Add(floor_, hn::Set(Tag<T>(), static_cast<T>(c * skew_)));
  }

  template <int C, bool kSkewed = false>
  HWY_NOINLINE void pass(std::int64_t j) {
    Front<C> front;
    front.columns = source_.template columns<C>(j, first_row_);
    front.open = open_;
    front.extend = extend_;
    front.floor = floor_;
    front.h = h_;
    front.e = e_;
    if constexpr (kSkewed) {
      // From one column to the next E stays, F is lowered after the maximum.
      front.open = hn::Sub(open_, extend_);
      front.back = hn::Sub(raised(C), floor_);
      front.h_to = h_to_;
      front.e_to = e_to_;
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
      if (border_.started()) border_.template load<C>(j, corner_, front);
      if constexpr (kSkewed) {
        bool without_bests = false;
        if constexpr (C == kSearchColumns) without_bests = bounded(front);
        if (!without_bests)
          for (std::int64_t i = 0; i < n_rows; ++i) Rows::template skewed_row<C, true>(i, front);
      } else {
        for (std::int64_t i = 0; i < n_rows; ++i) Rows::template row<C>(i, front, nullptr);
      }
      if (border_.started()) {
        const T* last = (kSkewed ? h_to_ : h_) + (n_rows - 1) * lanes_;
        border_.template store<C>(j, front, hn::Load(Tag<T>(), last));
      }
      for (int c = 0; c < C; ++c)
        best_ = hn::Max(
            best_, kSkewed ? hn::Sub(front.most[c], hn::Sub(raised(c), floor_)) : front.most[c]);
      if constexpr (kSkewed) bound_max_e();
    } else {
      constexpr int kBlock = LocalEnds<T>::kBlock;
      for (std::int64_t i = 0; i < n_rows;) {
        for (int c = 0; c < C; ++c) front.most[c] = front.floor;
        const std::int64_t first = i, end = std::min(n_rows, i + kBlock);
        for (T* kept = ends_.block(0); i < end; ++i, kept += kMaxLanes)
          Rows::template row<C>(i, front, kept);
        ends_.template end_block<C>(front.most, column_best, first);
      }
      ends_.template end_pass<C>(column_best, best_, j);
    }
  }

  // Where scores below job_.min_score do not matter, few passes hold one that does. An upper bound
  // of all cells of a skewed pass comes for little; only a pass where that is not below what
  // matters is computed again, following the best of each column, for which this returns false.
  // Such passes come in runs; the longer they do, the longer no bound is tried.
  HWY_INLINE bool bounded(Front<kSearchColumns>& front) {
    if (passes_to_follow_ > 0) {
      --passes_to_follow_;
      return false;
    }
    const Front<kSearchColumns> start = front;
    front.max_e = max_e_;
    std::int64_t i = 0;
    // Two at a time, so that fewer values are copied from register to register.
    for (; i + 1 < n_rows_; i += 2) {
      Rows::template skewed_row<kSearchColumns, false>(i, front);
      Rows::template skewed_row<kSearchColumns, false>(i + 1, front);
    }
    if (i < n_rows_) Rows::template skewed_row<kSearchColumns, false>(i, front);
    if (HWY_LIKELY(hn::AllFalse(Tag<T>(), hn::Gt(front.max_e, max_e_)))) {
      next_run_ = std::max(next_run_ / 2, 1);
      return true;
    }
    front = start;
    passes_to_follow_ = next_run_;
    next_run_ = std::min(2 * next_run_, kLongestRun);
    return false;
  }

  // Before the first column of a tile.
  void start_following() {
    passes_to_follow_ = 0;
    next_run_ = 1;
    set_min_score();
  }

  // The greatest value of each lane that need not be followed, by job_.min_score alone.
  void set_min_score() {
    HWY_ALIGN T least[kMaxLanes] = {};
    for (std::int64_t lane = 0; lane < lanes_; ++lane)
      least[lane] = static_cast<T>(
          std::clamp<std::int64_t>(range_.local_zero + job_.min_score - 1 - base_[lane],
                                   range_.local_zero, highest_followed_));
    least_ = hn::Load(Tag<T>(), least);
    bound_max_e();
  }

  // What E behind a pass is at most where no value needs to be followed. A lane that is saturated
  // holds nothing of use any more.
  HWY_INLINE void bound_max_e() {
    const Tag<T> d;
    const auto saturated = hn::Gt(best_, hn::Set(d, static_cast<T>(range_.local_highest)));
    const V most = hn::IfThenElse(saturated, hn::Set(d, std::numeric_limits<T>::max()),
                                  hn::Max(best_, least_));
    max_e_ = hn::Sub(most, hn::Sub(open_, extend_));
  }

  // Before column j: ends the targets that it is behind, and clears the way for those that follow.
  HWY_INLINE void end_targets(std::int64_t j) {
    if (HWY_LIKELY(next_end_ == job_.ends.size() || job_.ends[next_end_].column > j)) return;
    end_targets_before(j);
  }

  // The column that no pass may go beyond.
  std::int64_t next_stop() const {
    return next_end_ == job_.ends.size() ? shape_.n_columns : job_.ends[next_end_].column;
  }

  HWY_NOINLINE void end_targets_before(std::int64_t j) {
    const Tag<T> d;
    HWY_ALIGN T best[kMaxLanes] = {}, ended[kMaxLanes] = {};
    hn::Store(best_, d, best);
    for (; next_end_ < job_.ends.size() && job_.ends[next_end_].column <= j; ++next_end_) {
      const int lane = job_.ends[next_end_].lane;
      keep(best[lane], lane, result_.ended[next_end_]);
      ended[lane] = 1;
      base_[lane] = 0;
      reach_[lane] = 0;
    }
    const auto lanes = hn::Gt(hn::Load(d, ended), hn::Zero(d));
    best_ = hn::IfThenElse(lanes, floor_, best_);
    corner_ = hn::IfThenElse(lanes, h_floor_, corner_);
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      T *h = h_ + i * lanes_, *e = e_ + i * lanes_;
      hn::Store(hn::IfThenElse(lanes, h_floor_, hn::Load(d, h)), d, h);
      hn::Store(hn::IfThenElse(lanes, min_e_, hn::Load(d, e)), d, e);
    }
    set_min_score();
  }

  // Takes the score of the lane over, of one tile of rows maybe.
  void keep(T best, int lane, EndedScore& into) const {
    const std::int32_t score = static_cast<std::int32_t>(best - range_.local_zero) + base_[lane];
    into.score = std::max(into.score, score);
    if (best > range_.local_highest || (base_[lane] > 0 && reach_[lane] >= score))
      into.saturated = true;
  }

  // Behind the last residue of the lane's target that column j is one of.
  std::int64_t target_end(int lane) const {
    for (std::size_t k = next_end_; k < job_.ends.size(); ++k)
      if (job_.ends[k].lane == lane) return job_.ends[k].column;
    return std::ssize(job_.lanes[lane].target);
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
      const std::int64_t left = target_end(lane) - j;
      if (left <= 0) return;
      const std::int64_t gain = std::min(std::ssize(pair.query), left) * max_score_;
      // As little as lets the lane end without another rise, within reason; at least what brings
      // the best below the trigger again, or the next pass could carry a value past the top.
      const std::int64_t least = std::max(room / 8, best[lane] - trigger_);
      const std::int64_t by =
          std::clamp(best[lane] + gain - trigger_, least, std::max(room / 2, least));
      raised[lane] = static_cast<T>(by);
      base_[lane] += static_cast<std::int32_t>(by);
      reach_[lane] = std::max(reach_[lane], base_[lane] + gain);
    });
    const V by = hn::Load(d, raised);
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      T *h = h_ + i * lanes_, *e = e_ + i * lanes_;
      hn::Store(hn::Max(hn::SaturatedSub(hn::Load(d, h), by), h_floor_), d, h);
      hn::Store(hn::Max(hn::SaturatedSub(hn::Load(d, e), by), min_e_), d, e);
    }
    best_ = hn::SaturatedSub(best_, by);
    set_min_score();
    if constexpr (kEnds) ends_.lower(by);
  }

  void finish() {
    HWY_ALIGN T best[kMaxLanes] = {};
    hn::Store(best_, Tag<T>(), best);
    const auto n = static_cast<int>(job_.lanes.size());
    for (int lane = 0; lane < n; ++lane) {
      EndedScore of_lane;
      keep(best[lane], lane, of_lane);
      result_.score[lane] = of_lane.score;
      result_.saturated[lane] = of_lane.saturated;
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
  int skew_ = 0, columns_ = kMaxColumns;  // of a skewed pass
  bool may_bound_ = false;
  V h_floor_, min_e_;  // what H and E of a column that is kept are at least
  Source source_;
  LocalEnds<T> ends_;
  LocalBorder<T> border_;
  T *h_ = nullptr, *e_ = nullptr;
  T *h_to_ = nullptr, *e_to_ = nullptr;      // behind a skewed pass; h_, e_ where none is redone
  std::int64_t first_row_ = 0, n_rows_ = 0;  // of the tile
  V corner_;                                 // H above and left of the next pass
  std::int64_t max_score_ = 0, trigger_ = 0, highest_followed_ = 0;
  V least_, max_e_;  // set_min_score(), bound_max_e()
  int passes_to_follow_ = 0, next_run_ = 1;
  std::size_t next_end_ = 0;            // of job_.ends
  std::int32_t base_[kMaxLanes] = {};   // what the floors were raised by
  std::int64_t reach_[kMaxLanes] = {};  // what a path from a raised floor could be worth
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
