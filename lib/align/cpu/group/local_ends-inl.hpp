// Where the best local alignments of a group end. Compiled once per target.
#if defined(BIOGPU_ALIGN_LOCAL_ENDS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_LOCAL_ENDS_INL
#undef BIOGPU_ALIGN_LOCAL_ENDS_INL
#else
#define BIOGPU_ALIGN_LOCAL_ENDS_INL
#endif

#include <algorithm>

#include "lib/align/cpu/group/group_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Follows the end of the best local alignment of each lane. Rows go by in blocks, columns in passes
// that visit several columns of a row at once; only strictly better scores move the end, in
// column-major order: the smallest target_end, then the smallest query_end. A block in which a lane
// improves is kept whole, and the row is sought in it at the very end.
template <class T>
class LocalEnds {
 public:
  using V = hn::Vec<Tag<T>>;
  static constexpr int kBlock = 8;  // rows

  LocalEnds() : lanes_(static_cast<std::int64_t>(hn::Lanes(Tag<T>()))) {
    std::fill_n(kept_, kBlock * kMaxLanes, T{0});
  }

  // Where a pass stores H of a block's rows of column c.
  HWY_INLINE T* block(int c) { return block_ + c * kBlock * kMaxLanes; }

  // most[c]: the greatest H of the block in column c; best[c]: that of the column's earlier blocks
  // and of the columns before the pass.
  template <int C>
  HWY_INLINE void end_block(const V (&most)[C], V (&best)[C], std::int64_t first_row) {
    const Tag<T> d;
    auto any = hn::Gt(most[0], best[0]);
    for (int c = 1; c < C; ++c) any = hn::Or(any, hn::Gt(most[c], best[c]));
    if (HWY_LIKELY(hn::AllFalse(d, any))) return;
    for (int c = 0; c < C; ++c) {
      keep_block(c, hn::Gt(most[c], best[c]), first_row);
      best[c] = hn::Max(best[c], most[c]);
    }
  }

  // The columns of a pass in their order. best: that of the columns before the pass.
  template <int C>
  HWY_INLINE void end_pass(const V (&column_best)[C], V& best, std::int64_t first_column) {
    const Tag<T> d;
    for (int c = 0; c < C; ++c) {
      const auto better = hn::Gt(column_best[c], best);
      if (hn::AllFalse(d, better)) continue;
      for (int r = 0; r < kBlock; ++r)
        blend(better, pass_[c] + r * kMaxLanes, kept_ + r * kMaxLanes);
      for_each_lane(d, better, [&](int lane) {
        first_row_[lane] = pass_row_[c][lane];
        column_[lane] = first_column + c;
      });
      best = hn::Max(best, column_best[c]);
    }
  }

  // The kept values follow when a lane's best is lowered.
  HWY_INLINE void lower(V by) {
    const Tag<T> d;
    for (int r = 0; r < kBlock; ++r)
      hn::Store(hn::SaturatedSub(hn::Load(d, kept_ + r * kMaxLanes), by), d, kept_ + r * kMaxLanes);
  }

  void finish(const T* best, int n_lanes, GroupResult& result) const {
    for (int lane = 0; lane < n_lanes; ++lane) {
      int r = 0;
      while (r + 1 < kBlock && kept_[r * kMaxLanes + lane] != best[lane]) ++r;
      result.query_end[lane] = static_cast<std::int32_t>(first_row_[lane] + r);
      result.target_end[lane] = static_cast<std::int32_t>(column_[lane]);
    }
  }

 private:
  template <class M>
  HWY_NOINLINE void keep_block(int c, M better, std::int64_t first_row) {
    const Tag<T> d;
    if (hn::AllFalse(d, better)) return;
    for (int r = 0; r < kBlock; ++r)
      blend(better, block(c) + r * kMaxLanes, pass_[c] + r * kMaxLanes);
    for_each_lane(d, better, [&](int lane) { pass_row_[c][lane] = first_row; });
  }

  template <class M>
  static HWY_INLINE void blend(M mask, const T* from, T* to) {
    const Tag<T> d;
    hn::Store(hn::IfThenElse(mask, hn::Load(d, from), hn::Load(d, to)), d, to);
  }

  const std::int64_t lanes_;
  HWY_ALIGN T block_[kMaxColumns * kBlock * kMaxLanes];
  HWY_ALIGN T pass_[kMaxColumns][kBlock * kMaxLanes];
  HWY_ALIGN T kept_[kBlock * kMaxLanes];
  std::int64_t pass_row_[kMaxColumns][kMaxLanes];
  std::int64_t first_row_[kMaxLanes] = {}, column_[kMaxLanes] = {};
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
