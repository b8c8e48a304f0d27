// Global and semi-global alignment of a group in differences of neighbouring cells, which fit 8
// bits for pairs of any score: H. Suzuki and M. Kasahara, doi:10.1186/s12859-018-2014-8. Compiled
// once per target.
//
// With o and e the costs of opening and extending, q = o - e, and unsigned bytes for
//   u = H(i, j) - H(i - 1, j) + o    v = H(i, j) - H(i, j - 1) + o
//   x = E(i, j + 1) - H(i, j) + o    y = F(i + 1, j) - H(i, j) + o
// a cell takes, with z = H(i, j) - H(i - 1, j - 1) + 2 o and s raised by 2 o,
//   a = x(i, j - 1) + u(i, j - 1)    b = y(i - 1, j) + v(i - 1, j)    z = max(s, a, b)
//   u = z - v(i - 1, j)    v = z - u(i, j - 1)
//   x = max(a - (z - q), 0)    y = max(b - (z - q), 0)
#if defined(BIOGPU_ALIGN_GROUP_DIFFERENCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_DIFFERENCE_INL
#undef BIOGPU_ALIGN_GROUP_DIFFERENCE_INL
#else
#define BIOGPU_ALIGN_GROUP_DIFFERENCE_INL
#endif

#include <algorithm>
#include <limits>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group/group_lanes-inl.hpp"
#include "lib/align/cpu/group/group_source-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

using D8 = Tag<std::uint8_t>;
using D16 = Tag<std::int16_t>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;

// A score of every byte lane, as 16 bits: sums of the differences.
struct WideLanes {
  V16 low, high;

  static HWY_INLINE WideLanes load(const std::int16_t* lanes) {
    const D16 d;
    return {hn::Load(d, lanes), hn::Load(d, lanes + hn::Lanes(d))};
  }
  HWY_INLINE void store(std::int16_t* lanes) const {
    const D16 d;
    hn::Store(low, d, lanes);
    hn::Store(high, d, lanes + hn::Lanes(d));
  }
  // Adds differences that are raised by `raise`.
  HWY_INLINE void add(V8 differences, V16 raise) {
    const D16 d;
    const hn::Half<D8> half;
    low = hn::Add(low, hn::Sub(hn::PromoteTo(d, hn::LowerHalf(half, differences)), raise));
    high = hn::Add(high, hn::Sub(hn::PromoteTo(d, hn::UpperHalf(half, differences)), raise));
  }
  // Takes scores that are better, and `at` where they are; only where `mask` (0 or -1) is set.
  HWY_INLINE void take_better(const WideLanes& scores, const WideLanes& mask, V16 at,
                              WideLanes& position) {
    take(low, scores.low, mask.low, at, position.low);
    take(high, scores.high, mask.high, at, position.high);
  }

 private:
  static HWY_INLINE void take(V16& best, V16 score, V16 mask, V16 at, V16& position) {
    const auto better = hn::And(hn::MaskFromVec(mask), hn::Gt(score, best));
    best = hn::IfThenElse(better, score, best);
    position = hn::IfThenElse(better, at, position);
  }
};

template <class Source, bool kTrace>
class DifferenceKernel {
 public:
  DifferenceKernel(const GroupJob& job, GroupResult& result)
      : job_(job),
        options_(*job.options),
        result_(result),
        shape_(job),
        lanes_(static_cast<std::int64_t>(hn::Lanes(D8()))),
        q_(hn::Set(D8(), static_cast<std::uint8_t>(options_.scoring.gap_open -
                                                   options_.scoring.gap_extend))),
        raise_(hn::Set(D16(), static_cast<std::int16_t>(options_.scoring.gap_open))),
        source_(job, shape_.n_rows, shape_.n_columns, 2 * options_.scoring.gap_open) {
    std::fill_n(row_best_, kMaxLanes, std::numeric_limits<std::int16_t>::min());
  }

  void run() {
    start_columns();
    start_lanes();
    std::int64_t j = 0;
    for (; j + kMaxColumns < shape_.min_columns; j += kMaxColumns) {
      pass<kMaxColumns>(j);
      add_last_rows<kMaxColumns>(j);
    }
    for (; j < shape_.n_columns; ++j) {
      pass<1>(j);
      // A lane at its last column stands aside: its corner is taken in end_lanes().
      const std::int64_t first = closed_;
      while (closed_ < n_lanes_ && columns_of(order_[closed_]) == j + 1)
        running_[order_[closed_++]] = 0;
      add_last_rows<1>(j);
      if (closed_ > first) end_lanes(first, j);
    }
  }

 private:
  std::int64_t rows_of(int lane) const { return std::ssize(job_.lanes[lane].query); }
  std::int64_t columns_of(int lane) const { return std::ssize(job_.lanes[lane].target); }

  static std::uint8_t raised(std::int64_t difference, int open) {
    return static_cast<std::uint8_t>(difference + open);
  }
  std::uint8_t left_difference(std::int64_t i) const {
    return raised(left_border(options_, i + 1) - left_border(options_, i),
                  options_.scoring.gap_open);
  }
  std::uint8_t top_difference(std::int64_t j) const {
    return raised(top_border(options_, j + 1) - top_border(options_, j), options_.scoring.gap_open);
  }

  void start_columns() {
    const D8 d;
    u_ = job_.scratch->h.get<std::uint8_t>(shape_.n_rows * lanes_);
    x_ = job_.scratch->e.get<std::uint8_t>(shape_.n_rows * lanes_);
    for (std::int64_t i = 0; i < shape_.n_rows; ++i) {
      hn::Store(hn::Set(d, left_difference(i)), d, u_ + i * lanes_);
      hn::Store(hn::Zero(d), d, x_ + i * lanes_);
    }
    if constexpr (kTrace) result_.trace = start_trace(*job_.scratch, shape_, lanes_ / 8);
  }

  // Masks of the rows in which lanes end, and the lanes by target length.
  void start_lanes() {
    const std::int64_t n_end_rows = shape_.n_rows - shape_.min_rows + 1;
    end_masks_ = job_.scratch->row_masks.get<std::uint8_t>(n_end_rows * lanes_);
    std::fill_n(end_masks_, n_end_rows * lanes_, std::uint8_t{0});
    n_lanes_ = std::ssize(job_.lanes);
    for (int lane = 0; lane < n_lanes_; ++lane) {
      end_masks_[(rows_of(lane) - shape_.min_rows) * lanes_ + lane] = 0xFF;
      last_row_[lane] = static_cast<std::int16_t>(rows_of(lane) - 1);
      // H in column -1 of the last row.
      last_row_score_[lane] = static_cast<std::int16_t>(left_border(options_, rows_of(lane)));
      running_[lane] = -1;
      order_[lane] = static_cast<std::uint8_t>(lane);
    }
    std::sort(order_, order_ + n_lanes_,
              [&](int a, int b) { return columns_of(a) < columns_of(b); });
    const EndPicker picker(options_, 1, 1);
    wants_row_ = picker.wants_row();
    wants_column_ = picker.wants_column();
  }

  // The front of a pass; a value of its own, which no store of u can touch, so that it stays in
  // registers.
  template <int C>
  struct Front {
    typename Source::template Columns<C> columns;
    V8 q;
    V8 v[C], y[C];
    std::uint8_t *u, *x;
    std::uint8_t* trace;
  };

  template <int C>
  HWY_NOINLINE void pass(std::int64_t j) {
    const D8 d;
    Front<C> front{source_.template columns<C>(j, 0), q_, {}, {}, u_, x_, nullptr};
    if constexpr (kTrace) front.trace = result_.trace.at(0, j);
    V8 last[C];
    for (int c = 0; c < C; ++c) {
      front.v[c] = hn::Set(d, top_difference(j + c));
      front.y[c] = last[c] = hn::Zero(d);
    }
    const std::int64_t n_rows = shape_.n_rows, n_plain = shape_.min_rows - 1;
    std::int64_t i = 0;
    for (; i < n_plain; ++i) row<C>(i, front);
    for (const std::uint8_t* mask = end_masks_; i < n_rows; ++i, mask += lanes_) {
      row<C>(i, front);
      const V8 ends = hn::Load(d, mask);
      for (int c = 0; c < C; ++c) last[c] = hn::Or(last[c], hn::And(ends, front.v[c]));
    }
    for (int c = 0; c < C; ++c) hn::Store(last[c], d, last_v_ + c * kMaxLanes);
  }

  template <int C>
  static HWY_INLINE void row(std::int64_t i, Front<C>& front) {
    const D8 d;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D8()));
    const auto at = front.columns.row(i);
    V8 u = hn::Load(d, front.u + i * kLanes);
    V8 x = hn::Load(d, front.x + i * kLanes);
    [[maybe_unused]] std::uint8_t* trace = nullptr;
    if constexpr (kTrace) trace = front.trace + i * GroupTrace::row_bytes(kLanes / 8);
    HWY_UNROLL(4)
    for (int c = 0; c < C; ++c) {
      const V8 s = front.columns.score(at, c);
      const V8 b = hn::Add(front.y[c], front.v[c]);
      const V8 a = hn::Add(x, u);
      const V8 z = hn::Max(hn::Max(s, b), a);
      const V8 extended = hn::Sub(z, front.q);  // what a gap must be worth to be extended
      if constexpr (kTrace)
        trace = store_trace(d, trace, hn::Eq(z, s), hn::Eq(z, b), hn::Gt(extended, b),
                            hn::Gt(extended, a));
      const V8 v = hn::Sub(z, u);
      u = hn::Sub(z, front.v[c]);
      front.v[c] = v;
      x = hn::SaturatedSub(a, extended);
      front.y[c] = hn::SaturatedSub(b, extended);
    }
    hn::Store(u, d, front.u + i * kLanes);
    hn::Store(x, d, front.x + i * kLanes);
  }

  // Moves the scores of the last rows on by C columns.
  template <int C>
  HWY_INLINE void add_last_rows(std::int64_t j) {
    const D16 d;
    WideLanes score = WideLanes::load(last_row_score_);
    WideLanes best = WideLanes::load(row_best_), position = WideLanes::load(row_position_);
    const WideLanes running = WideLanes::load(running_);
    for (int c = 0; c < C; ++c) {
      score.add(hn::Load(D8(), last_v_ + c * kMaxLanes), raise_);
      if (wants_row_)
        best.take_better(score, running, hn::Set(d, static_cast<std::int16_t>(j + c)), position);
    }
    score.store(last_row_score_);
    best.store(row_best_);
    position.store(row_position_);
  }

  // Column j is the last of the lanes order_[first .. closed_).
  HWY_NOINLINE void end_lanes(std::int64_t first, std::int64_t j) {
    HWY_ALIGN std::int16_t column_best[kMaxLanes] = {}, column_position[kMaxLanes] = {};
    if (wants_column_) best_of_column(first, j, column_best, column_position);
    for (std::int64_t k = first; k < closed_; ++k) {
      const int lane = order_[k];
      EndPicker picker(options_, rows_of(lane), j + 1);
      if (wants_column_) picker.offer_column(column_position[lane], column_best[lane]);
      if (wants_row_ && j > 0) picker.offer_row(row_position_[lane], row_best_[lane]);
      picker.offer_row(j, last_row_score_[lane]);
      const EndPicker::End end = picker.pick();
      result_.score[lane] = static_cast<std::int32_t>(end.score);
      result_.query_end[lane] = static_cast<std::int32_t>(end.i);
      result_.target_end[lane] = static_cast<std::int32_t>(end.j);
      result_.saturated[lane] = false;
    }
  }

  // The topmost of the best cells of column j above each lane's last row. A lane of one row gets
  // its corner's position, which the picker does not take.
  void best_of_column(std::int64_t first, std::int64_t j, std::int16_t* best_lanes,
                      std::int16_t* position_lanes) {
    const D16 d;
    HWY_ALIGN std::int16_t ending[kMaxLanes] = {};
    for (std::int64_t k = first; k < closed_; ++k) ending[order_[k]] = last_row_[order_[k]];
    const V16 lowest = hn::Set(d, std::numeric_limits<std::int16_t>::min());
    const V16 top = hn::Set(d, static_cast<std::int16_t>(top_border(options_, j + 1)));
    const WideLanes rows = WideLanes::load(ending);
    WideLanes score{top, top}, best{lowest, lowest}, position{hn::Zero(d), hn::Zero(d)};
    for (std::int64_t i = 0; i < shape_.n_rows; ++i) {
      const V16 at = hn::Set(d, static_cast<std::int16_t>(i));
      const WideLanes above{hn::VecFromMask(d, hn::Gt(rows.low, at)),
                            hn::VecFromMask(d, hn::Gt(rows.high, at))};
      score.add(hn::Load(D8(), u_ + i * lanes_), raise_);
      best.take_better(score, above, at, position);
    }
    best.store(best_lanes);
    position.store(position_lanes);
  }

  const GroupJob& job_;
  const Options& options_;
  GroupResult& result_;
  const GroupShape shape_;
  const std::int64_t lanes_;
  const V8 q_;
  const V16 raise_;
  Source source_;
  std::uint8_t *u_ = nullptr, *x_ = nullptr, *end_masks_ = nullptr;
  std::int64_t n_lanes_ = 0, closed_ = 0;  // closed_: in order_, lanes past their last column
  bool wants_row_ = false, wants_column_ = false;
  HWY_ALIGN std::uint8_t last_v_[kMaxColumns * kMaxLanes];  // v of the last rows, by column
  HWY_ALIGN std::int16_t last_row_score_[kMaxLanes] = {};   // H there
  HWY_ALIGN std::int16_t row_best_[kMaxLanes];              // the greatest so far
  HWY_ALIGN std::int16_t row_position_[kMaxLanes] = {};     // its column
  HWY_ALIGN std::int16_t running_[kMaxLanes] = {};          // -1 until the last column
  std::int16_t last_row_[kMaxLanes] = {};
  std::uint8_t order_[kMaxLanes];  // lanes by target length
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
