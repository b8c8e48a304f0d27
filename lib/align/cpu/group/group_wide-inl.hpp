// Global and semi-global alignment of a group with 16-bit scores, for costs that differences do not
// allow: columns one after the other, rows inside, a vector holds one cell of each lane. Compiled
// once per target.
#if defined(BIOGPU_ALIGN_GROUP_WIDE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_WIDE_INL
#undef BIOGPU_ALIGN_GROUP_WIDE_INL
#else
#define BIOGPU_ALIGN_GROUP_WIDE_INL
#endif

#include <algorithm>
#include <limits>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group/group_lanes-inl.hpp"
#include "lib/align/cpu/group/group_source-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Finds the end of global and semi-global alignments: watches the row where each lane's query ends
// and the column where its target does.
template <class T>
class BorderTracker {
 public:
  BorderTracker(const GroupJob& job, std::int64_t n_rows) : n_lanes_(std::ssize(job.lanes)) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
    first_end_row_ = n_rows - 1;
    for (const LanePair& pair : job.lanes)
      first_end_row_ = std::min<std::int64_t>(first_end_row_, std::ssize(pair.query) - 1);
    n_end_rows_ = n_rows - first_end_row_;
    masks_ = job.scratch->row_masks.template get<T>((n_end_rows_ + 1) * lanes);
    std::fill_n(masks_, (n_end_rows_ + 1) * lanes, T{0});
    running_ = masks_ + n_end_rows_ * lanes;
    lane_stride_ = lanes;
    HWY_ALIGN T lowest[kMaxLanes] = {};
    std::fill_n(lowest, kMaxLanes, std::numeric_limits<T>::min());
    row_best_ = hn::Load(Tag<T>(), lowest);
    for (int lane = 0; lane < n_lanes_; ++lane) {
      const LanePair& pair = job.lanes[lane];
      masks_[(std::ssize(pair.query) - 1 - first_end_row_) * lanes + lane] = T{-1};
      running_[lane] = T{-1};
      order_[lane] = static_cast<std::uint8_t>(lane);
    }
    std::sort(order_, order_ + n_lanes_, [&](int a, int b) {
      return job.lanes[a].target.size() < job.lanes[b].target.size();
    });
    wants_row_ = EndPicker(*job.options, 1, 1).wants_row();
  }

  // h: the column just finished.
  HWY_INLINE void column(const GroupJob& job, std::int64_t j, const T* h, GroupResult& result) {
    // A lane at its last column stands aside here: the corner is taken in end_lane().
    for (; closed_ < n_lanes_ && std::ssize(job.lanes[order_[closed_]].target) == j + 1; ++closed_)
      running_[order_[closed_]] = T{0};
    if (wants_row_) last_rows(j, h);
    for (; next_ < closed_; ++next_) end_lane(job, order_[next_], j, h, result);
  }

 private:
  // H of every lane's last row against the best so far.
  HWY_NOINLINE void last_rows(std::int64_t j, const T* h) {
    const Tag<T> d;
    auto value = hn::And(hn::Load(d, h + first_end_row_ * lane_stride_), hn::Load(d, masks_));
    for (std::int64_t r = 1; r < n_end_rows_; ++r)
      value = hn::Or(value, hn::And(hn::Load(d, h + (first_end_row_ + r) * lane_stride_),
                                    hn::Load(d, masks_ + r * lane_stride_)));
    const auto running = hn::MaskFromVec(hn::Load(d, running_));
    const auto better = hn::And(running, hn::Gt(value, row_best_));
    if (hn::AllFalse(d, better)) return;
    row_best_ = hn::IfThenElse(better, value, row_best_);
    for_each_lane(d, better, [&](int lane) { row_j_[lane] = static_cast<std::int32_t>(j); });
  }

  HWY_NOINLINE void end_lane(const GroupJob& job, int lane, std::int64_t j, const T* h,
                             GroupResult& result) {
    const LanePair& pair = job.lanes[lane];
    const std::int64_t m = std::ssize(pair.query);
    EndPicker picker(*job.options, m, std::ssize(pair.target));
    if (picker.wants_column())
      for (std::int64_t i = 0; i < m; ++i) picker.offer_column(i, h[i * lane_stride_ + lane]);
    if (picker.wants_row() && j > 0) {
      HWY_ALIGN T best[kMaxLanes] = {};
      hn::Store(row_best_, Tag<T>(), best);
      picker.offer_row(row_j_[lane], best[lane]);
    }
    picker.offer_row(j, h[(m - 1) * lane_stride_ + lane]);
    const EndPicker::End end = picker.pick();
    result.score[lane] = static_cast<std::int32_t>(end.score);
    result.query_end[lane] = static_cast<std::int32_t>(end.i);
    result.target_end[lane] = static_cast<std::int32_t>(end.j);
    result.saturated[lane] = false;
  }

  std::int64_t n_lanes_, lane_stride_, first_end_row_, n_end_rows_;
  T* masks_;    // [n_end_rows][lanes]: -1 where the lane's query ends in that row
  T* running_;  // [lanes]: -1 until the lane's last column
  hn::Vec<Tag<T>> row_best_;
  std::int32_t row_j_[kMaxLanes] = {};
  std::uint8_t order_[kMaxLanes];       // lanes by target length
  std::int64_t closed_ = 0, next_ = 0;  // in order_: at their last column; done
  bool wants_row_;
};

// Additions are plain: GroupRange leaves room below, and padding may wrap around, but no cell
// depends on padding.
template <class Source, bool kTrace>
HWY_NOINLINE void wide_kernel(const GroupJob& job, GroupResult& result) {
  using T = std::int16_t;
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const GroupShape shape(job);
  const Options& options = *job.options;
  const auto clamped = [](std::int64_t value) {
    return static_cast<T>(std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(),
                                                   std::numeric_limits<T>::max()));
  };
  const V open = hn::Set(d, static_cast<T>(options.scoring.gap_open));
  const V extend = hn::Set(d, static_cast<T>(options.scoring.gap_extend));

  T* HWY_RESTRICT h_column = job.scratch->h.get<T>(shape.n_rows * lanes);
  T* HWY_RESTRICT e_column = job.scratch->e.get<T>(shape.n_rows * lanes);
  for (std::int64_t i = 0; i < shape.n_rows; ++i) {
    const V h = hn::Set(d, clamped(left_border(options, i + 1)));
    hn::Store(h, d, h_column + i * lanes);
    hn::Store(hn::Sub(h, open), d, e_column + i * lanes);
  }
  if constexpr (kTrace) result.trace = start_trace(*job.scratch, shape, lanes / 8);
  Source source(job, shape.n_rows, shape.n_columns, 0);
  BorderTracker<T> border(job, shape.n_rows);

  for (std::int64_t j = 0; j < shape.n_columns; ++j) {
    const auto columns = source.template columns<1>(j, 0);
    V diagonal = hn::Set(d, clamped(top_border(options, j)));
    V f = hn::Sub(hn::Set(d, clamped(top_border(options, j + 1))), open);
    for (std::int64_t i = 0; i < shape.n_rows; ++i) {
      const V from_diagonal = hn::Add(diagonal, columns.score(columns.row(i), 0));
      diagonal = hn::Load(d, h_column + i * lanes);
      const V e = hn::Load(d, e_column + i * lanes);
      const V h = hn::Max(hn::Max(from_diagonal, e), f);
      hn::Store(h, d, h_column + i * lanes);
      const V opened = hn::Sub(h, open);
      const V e_extended = hn::Sub(e, extend);
      const V f_extended = hn::Sub(f, extend);
      if constexpr (kTrace)
        store_trace(d, result.trace.at(i, j), hn::Eq(h, from_diagonal), hn::Eq(h, f),
                    hn::Gt(opened, f_extended), hn::Gt(opened, e_extended));
      hn::Store(hn::Max(e_extended, opened), d, e_column + i * lanes);
      f = hn::Max(f_extended, opened);
    }
    border.column(job, j, h_column, result);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
