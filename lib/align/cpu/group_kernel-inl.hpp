// The cells of a group: columns one after the other, rows inside, a vector holds one cell of each
// lane. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_KERNEL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_KERNEL_INL
#undef BIOGPU_ALIGN_GROUP_KERNEL_INL
#else
#define BIOGPU_ALIGN_GROUP_KERNEL_INL
#endif

#include <algorithm>
#include <limits>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group_source-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// What a kernel computes beside the scores.
enum class Want {
  score,  // local: nothing; global and semi-global: the end too, it comes for little
  ends,   // the end of a local alignment
  trace,  // ends and the bits of every cell
};

// Calls visit(lane) for every set lane of the mask.
template <class D, class M, class Visit>
HWY_INLINE void for_each_lane(D d, M mask, const Visit& visit) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits;
  std::memcpy(&bits, bytes, 8);
  for (; bits != 0; bits &= bits - 1) visit(__builtin_ctzll(bits));
}

// Follows the best local score of each lane. Rows are numbered within a chunk that fits the lane
// type; a column's chunk is settled before the next one starts. Only strictly better scores move
// the end, in column-major order: the smallest target_end, then the smallest query_end.
template <class T, bool kPositions>
class LocalTracker {
 public:
  using V = hn::Vec<Tag<T>>;
  static constexpr std::int64_t kChunk = std::int64_t{1} << (8 * sizeof(T));

  explicit HWY_INLINE LocalTracker(std::int64_t zero)
      : best_(hn::Set(Tag<T>(), static_cast<T>(zero))),
        before_(best_),
        row_(hn::Zero(Tag<T>())),
        at_(hn::Zero(Tag<T>())) {}

  HWY_INLINE void start_chunk() {
    at_ = hn::Zero(Tag<T>());
    before_ = best_;
  }

  HWY_INLINE void add(V h) {
    if constexpr (kPositions) {
      row_ = hn::IfThenElse(hn::Gt(h, best_), at_, row_);
      at_ = hn::Add(at_, hn::Set(Tag<T>(), T{1}));
    }
    best_ = hn::Max(best_, h);
  }

  HWY_INLINE void end_chunk(std::int64_t j, std::int64_t first_row, GroupResult& result) {
    if constexpr (kPositions) {
      const Tag<T> d;
      const auto moved = hn::Gt(best_, before_);
      if (hn::AllFalse(d, moved)) return;
      HWY_ALIGN T rows[kMaxLanes] = {};
      hn::Store(row_, d, rows);
      for_each_lane(d, moved, [&](int lane) {
        result.query_end[lane] =
            static_cast<std::int32_t>(first_row + static_cast<std::make_unsigned_t<T>>(rows[lane]));
        result.target_end[lane] = static_cast<std::int32_t>(j);
      });
    }
  }

  // highest: the greatest value that no overflow can have produced.
  HWY_INLINE void finish(int n_lanes, std::int64_t zero, std::int64_t highest,
                         GroupResult& result) const {
    HWY_ALIGN T best[kMaxLanes] = {};
    hn::Store(best_, Tag<T>(), best);
    for (int lane = 0; lane < n_lanes; ++lane) {
      result.score[lane] = static_cast<std::int32_t>(best[lane] - zero);
      result.saturated[lane] = best[lane] > highest;
    }
  }

 private:
  V best_, before_, row_, at_;
};

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

// Plain additions: they run on more ports than saturating ones. A value passes the highest one only
// in a local alignment, by less than the room above it, and its lane is then given up; the room
// below is that of GroupRange. Padding may wrap around, but no cell depends on padding.
template <class T, class Source, bool kLocal, Want kWant>
HWY_NOINLINE void group_kernel(const GroupJob& job, GroupResult& result) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t n_rows = 0, n_columns = 0;
  for (const LanePair& pair : job.lanes) {
    n_rows = std::max<std::int64_t>(n_rows, std::ssize(pair.query));
    n_columns = std::max<std::int64_t>(n_columns, std::ssize(pair.target));
  }
  const Options& options = *job.options;
  const GroupRange range(options, sizeof(T) == 1);
  const std::int64_t zero = kLocal ? range.local_zero : 0;
  const auto clamped = [zero](std::int64_t value) {
    return static_cast<T>(std::clamp<std::int64_t>(value + zero, std::numeric_limits<T>::min(),
                                                   std::numeric_limits<T>::max()));
  };
  const V open = hn::Set(d, static_cast<T>(options.scoring.gap_open));
  const V extend = hn::Set(d, static_cast<T>(options.scoring.gap_extend));

  T* HWY_RESTRICT h_column = job.scratch->h.get<T>(n_rows * lanes);
  T* HWY_RESTRICT e_column = job.scratch->e.get<T>(n_rows * lanes);
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const V h = hn::Set(d, clamped(left_border(options, i + 1)));
    hn::Store(h, d, h_column + i * lanes);
    hn::Store(hn::Sub(h, open), d, e_column + i * lanes);
  }
  const std::int64_t plane_bytes = lanes / 8;
  std::uint8_t* HWY_RESTRICT trace = nullptr;
  if constexpr (kWant == Want::trace) {
    // The last store of a mask may write a whole word.
    trace = job.scratch->trace.get<std::uint8_t>(n_rows * n_columns * 4 * plane_bytes + 8);
    result.trace = {trace, n_rows, static_cast<int>(plane_bytes)};
  }
  Source source(job, n_rows, n_columns);
  LocalTracker<T, kLocal && kWant != Want::score> local(zero);
  const V floor = hn::Set(d, static_cast<T>(zero));
  BorderTracker<T> border(job, n_rows);

  for (std::int64_t j = 0; j < n_columns; ++j) {
    source.column(j);
    V diagonal = hn::Set(d, clamped(top_border(options, j)));
    V f = hn::Sub(hn::Set(d, clamped(top_border(options, j + 1))), open);
    for (std::int64_t first = 0; first < n_rows; first += local.kChunk) {
      const std::int64_t end = std::min(n_rows, first + local.kChunk);
      local.start_chunk();
      for (std::int64_t i = first; i < end; ++i) {
        const V from_diagonal = hn::Add(diagonal, source.score(i));
        diagonal = hn::Load(d, h_column + i * lanes);
        const V e = hn::Load(d, e_column + i * lanes);
        V h = hn::Max(hn::Max(from_diagonal, e), f);
        if constexpr (kLocal) h = hn::Max(h, floor);
        hn::Store(h, d, h_column + i * lanes);
        const V opened = hn::Sub(h, open);
        const V e_extended = hn::Sub(e, extend);
        const V f_extended = hn::Sub(f, extend);
        if constexpr (kWant == Want::trace) {
          hn::StoreMaskBits(d, hn::Eq(h, from_diagonal), trace);
          hn::StoreMaskBits(d, hn::Eq(h, f), trace + plane_bytes);
          hn::StoreMaskBits(d, hn::Gt(opened, f_extended), trace + 2 * plane_bytes);
          hn::StoreMaskBits(d, hn::Gt(opened, e_extended), trace + 3 * plane_bytes);
          trace += 4 * plane_bytes;
        }
        hn::Store(hn::Max(e_extended, opened), d, e_column + i * lanes);
        f = hn::Max(f_extended, opened);
        if constexpr (kLocal) local.add(h);
      }
      if constexpr (kLocal) local.end_chunk(j, first, result);
    }
    if constexpr (!kLocal) border.column(job, j, h_column, result);
  }
  if constexpr (kLocal)
    local.finish(static_cast<int>(job.lanes.size()), zero, range.local_highest, result);
}

template <class T, bool kLocal, Want kWant>
void run_group(const GroupJob& job, GroupResult& result) {
  if (has_small_table(job.options->scoring)) {
    group_kernel<T, TableSource<T>, kLocal, kWant>(job, result);
  } else {
    group_kernel<T, ProfileSource<T>, kLocal, kWant>(job, result);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
