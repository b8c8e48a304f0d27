// One pair on its own: strips of as many query rows as a vector has lanes; lane l is l columns
// behind lane 0, so that a vector holds an anti-diagonal of the strip. A border row of H and F
// carries values from strip to strip.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/long/long_slab.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group/group.hpp"
#include "lib/align/cpu/long/long_slab.hpp"
#include "lib/align/cpu/score_code-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {
// The state of a strip between two steps.
struct Strip {
  V32 query, h, e, f_next, diagonal, best, best_step;
};

template <bool kLocal, bool kSmall, bool kTrace>
class SlabKernel {
 public:
  explicit SlabKernel(const Slab& slab)
      : slab_(slab),
        lanes_(static_cast<std::int64_t>(hn::Lanes(D32()))),
        open_(hn::Set(D32(), slab.options->scoring.gap_open)),
        extend_(hn::Set(D32(), slab.options->scoring.gap_extend)),
        lane_number_(hn::Iota(D32(), 0)) {
    HWY_ALIGN std::int32_t rotation[kMaxLanes] = {};
    for (std::int64_t l = 0; l < lanes_; ++l)
      rotation[l] = static_cast<std::int32_t>((l + lanes_ - 1) % lanes_);
    rotation_ = hn::Load(D32(), rotation);
    std::fill_n(slab.h_row + slab.n_columns, lanes_, 0);
    std::fill_n(slab.f_row + slab.n_columns, lanes_, -slab.options->scoring.gap_open);
    encode_target();
    if constexpr (kTrace) {
      plane_bytes_ = std::max<std::int64_t>(1, lanes_ / 8);
      const std::int64_t n_strips = (slab.end_row - slab.first_row + lanes_ - 1) / lanes_;
      steps_ = slab.n_columns + lanes_ - 1;
      trace_ = slab.scratch->trace.get<std::uint8_t>(n_strips * steps_ * 4 * plane_bytes_ + 8);
    }
  }

  void run(SlabResult& result) {
    result.trace = {trace_, slab_.first_row, slab_.first_column, steps_, lanes_, plane_bytes_};
    for (std::int64_t row = slab_.first_row; row < slab_.end_row; row += lanes_) {
      if (slab_.checkpoint_rows > 0 && (row - slab_.first_row) % slab_.checkpoint_rows == 0)
        save_checkpoint(row);
      run_strip(row, result);
    }
  }

 private:
  // Target codes reversed and padded, so that the codes of a step lie in lane order.
  void encode_target() {
    const std::int64_t n = slab_.n_columns, pad = lanes_;
    auto* codes = slab_.scratch->target.get<std::int32_t>(n + 2 * pad);
    std::fill_n(codes, n + 2 * pad, Coder<kSmall>::target_code(kMaxClasses));
    for (std::int64_t j = 0; j < n; ++j)
      codes[pad + n - 1 - j] = Coder<kSmall>::target_code(slab_.target[slab_.first_column + j]);
    target_ = codes + pad + n - 1;  // lane l at step s takes target_[l - s]
  }

  void save_checkpoint(std::int64_t row) {
    const std::int64_t at = (row - slab_.first_row) / slab_.checkpoint_rows * 2 * slab_.n_columns;
    std::copy_n(slab_.h_row, slab_.n_columns, slab_.checkpoints + at);
    std::copy_n(slab_.f_row, slab_.n_columns, slab_.checkpoints + at + slab_.n_columns);
  }

  Strip start_strip(std::int64_t row) const {
    const D32 d;
    HWY_ALIGN std::int32_t query[kMaxLanes] = {}, border[kMaxLanes] = {}, above[kMaxLanes] = {};
    HWY_ALIGN std::int32_t e[kMaxLanes] = {};
    const int open = slab_.options->scoring.gap_open;
    const LeftBorder& left = slab_.left;
    for (std::int64_t l = 0; l < lanes_; ++l) {
      const bool inside = row + l < std::ssize(slab_.query);
      query[l] = Coder<kSmall>::query_code(inside ? slab_.query[row + l] : kMaxClasses);
      const std::int64_t at = row + l - slab_.first_row;
      if (left.h == nullptr) {
        border[l] = static_cast<std::int32_t>(left_border(*slab_.options, row + l + 1));
        above[l] = static_cast<std::int32_t>(left_border(*slab_.options, row + l));
        e[l] = border[l] - open;
      } else if (row + l < slab_.end_row) {
        border[l] = left.h[at];
        above[l] = at > 0 ? left.h[at - 1] : left.corner;
        e[l] = left.e[at];
      }
    }
    return {hn::Load(d, query), hn::Load(d, border), hn::Load(d, e), hn::Zero(d),
            hn::Load(d, above), hn::Zero(d),         hn::Zero(d)};
  }

  // One anti-diagonal. kHead: lanes right of `step` have not started and keep their left border.
  template <bool kHead>
  HWY_INLINE void step(Strip& s, std::int64_t step, const Strip& start) {
    const D32 d;
    const auto first_lane = hn::Eq(lane_number_, hn::Zero(d));
    const auto rotation = hn::IndicesFromVec(d, rotation_);
    const V32 h_rotated = hn::TableLookupLanes(s.h, rotation);
    const V32 f_rotated = hn::TableLookupLanes(s.f_next, rotation);
    const std::int64_t in = std::min(step, slab_.n_columns);
    const V32 up = hn::IfThenElse(first_lane, hn::Set(d, slab_.h_row[in]), h_rotated);
    const V32 f = hn::IfThenElse(first_lane, hn::Set(d, slab_.f_row[in]), f_rotated);
    if (step >= lanes_) {
      slab_.h_row[step - lanes_] = hn::GetLane(h_rotated);
      slab_.f_row[step - lanes_] = hn::GetLane(f_rotated);
    }
    const V32 code = hn::LoadU(d, target_ - step);
    const V32 from_diagonal =
        hn::Add(s.diagonal, Coder<kSmall>::score(s.query, code, slab_.scores));
    s.diagonal = up;
    V32 h = hn::Max(hn::Max(from_diagonal, s.e), f);
    if constexpr (kLocal) h = hn::Max(h, hn::Zero(d));
    const V32 opened = hn::Sub(h, open_);
    const V32 e_extended = hn::Sub(s.e, extend_);
    const V32 f_extended = hn::Sub(f, extend_);
    if constexpr (kTrace) {
      std::uint8_t* out = strip_trace_ + step * 4 * plane_bytes_;
      hn::StoreMaskBits(d, hn::Eq(h, from_diagonal), out);
      hn::StoreMaskBits(d, hn::Eq(h, f), out + plane_bytes_);
      hn::StoreMaskBits(d, hn::Gt(opened, f_extended), out + 2 * plane_bytes_);
      hn::StoreMaskBits(d, hn::Gt(opened, e_extended), out + 3 * plane_bytes_);
    }
    V32 e = hn::Max(e_extended, opened);
    if constexpr (kHead) {
      const auto started = hn::Lt(lane_number_, hn::Set(d, static_cast<std::int32_t>(step + 1)));
      h = hn::IfThenElse(started, h, start.h);
      e = hn::IfThenElse(started, e, start.e);
    }
    if constexpr (kLocal && !kTrace) {
      const V32 now = hn::Set(d, static_cast<std::int32_t>(step));
      s.best_step = hn::IfThenElse(hn::Gt(h, s.best), now, s.best_step);
      s.best = hn::Max(s.best, h);
    }
    s.h = h;
    s.e = e;
    s.f_next = hn::Max(f_extended, opened);
  }

  // What does not change along a strip.
  struct Course {
    const Strip& start;
    std::int64_t row;
    bool watches, last;
  };

  // Steps k .. to. The strip is a value, so that it stays in registers.
  HWY_NOINLINE Strip go_on(Strip s, std::int64_t k, std::int64_t to, const Course& course,
                           SlabResult& result) {
    const std::int64_t first_watched = course.last ? 0 : slab_.n_columns - 1;
    const std::int64_t plain = course.watches ? std::min(to, first_watched) : to;
    for (; k < plain; ++k) step<false>(s, k, course.start);
    for (; k < to; ++k) {
      step<false>(s, k, course.start);
      watch(s, course.row, k, course.last, result);
    }
    return s;
  }

  // Goes on to the last column that is kept; returns the next step.
  HWY_INLINE std::int64_t keep_columns(Strip& strip, std::int64_t k, const Course& course,
                                       SlabResult& result) {
    const D32 d;
    std::int32_t* to = slab_.column_checkpoints + course.row - slab_.first_row;
    for (std::int64_t column = slab_.checkpoint_columns - 1; column < slab_.n_columns - 1;
         column += slab_.checkpoint_columns, to += 2 * slab_.column_stride) {
      strip = go_on(strip, k, column, course, result);
      Strip s = strip;
      V32 h = s.h, e = s.e;
      for (k = column; k < column + lanes_; ++k) {
        step<false>(s, k, course.start);
        const auto here = hn::Eq(lane_number_, hn::Set(d, static_cast<std::int32_t>(k - column)));
        h = hn::IfThenElse(here, s.h, h);
        e = hn::IfThenElse(here, s.e, e);
        if (course.watches && (course.last || k >= slab_.n_columns - 1))
          watch(s, course.row, k, course.last, result);
      }
      hn::StoreU(h, d, to);
      hn::StoreU(e, d, to + slab_.column_stride);
      strip = s;
    }
    return k;
  }

  HWY_NOINLINE void run_strip(std::int64_t row, SlabResult& result) {
    const Strip start = start_strip(row);
    Strip s = start;
    const std::int64_t n = slab_.n_columns, n_steps = n + lanes_ - 1;
    if constexpr (kTrace)
      strip_trace_ = trace_ + (row - slab_.first_row) / lanes_ * steps_ * 4 * plane_bytes_;
    const bool watches = !kLocal && !kTrace && result.picker != nullptr;
    const bool last = row + lanes_ >= slab_.end_row;
    std::int64_t k = 0;
    for (; k < std::min(lanes_ - 1, n_steps); ++k) {
      step<true>(s, k, start);
      if (watches) watch(s, row, k, last, result);
    }
    const Course course{start, row, watches, last};
    if constexpr (!kTrace) {
      if (slab_.checkpoint_columns > 0) k = keep_columns(s, k, course, result);
    }
    s = go_on(s, k, n_steps, course, result);
    const auto rotation = hn::IndicesFromVec(D32(), rotation_);
    slab_.h_row[n - 1] = hn::GetLane(hn::TableLookupLanes(s.h, rotation));
    slab_.f_row[n - 1] = hn::GetLane(hn::TableLookupLanes(s.f_next, rotation));
    if constexpr (kLocal && !kTrace) settle_local(s, row, result);
  }

  // Offers the last column, and in the last strip the last row, to the picker.
  HWY_INLINE void watch(const Strip& s, std::int64_t row, std::int64_t step, bool last,
                        SlabResult& result) {
    HWY_ALIGN std::int32_t h[kMaxLanes] = {};
    hn::Store(s.h, D32(), h);
    const std::int64_t m = std::ssize(slab_.query), n = slab_.n_columns;
    const std::int64_t lane = step - (n - 1);
    if (lane >= 0 && row + lane < m) result.picker->offer_column(row + lane, h[lane]);
    const std::int64_t j = step - (m - 1 - row);
    if (last && j >= 0 && j < n) result.picker->offer_row(j, h[m - 1 - row]);
  }

  void settle_local(const Strip& s, std::int64_t row, SlabResult& result) const {
    HWY_ALIGN std::int32_t best[kMaxLanes] = {}, at[kMaxLanes] = {};
    hn::Store(s.best, D32(), best);
    hn::Store(s.best_step, D32(), at);
    EndPicker::End& end = result.local_end;
    for (std::int64_t l = 0; l < lanes_; ++l) {
      const std::int64_t j = at[l] - l;
      if (best[l] > end.score || (best[l] == end.score && best[l] > 0 && j < end.j))
        end = {best[l], row + l, j};
    }
  }

  const Slab& slab_;
  const std::int64_t lanes_;
  const V32 open_, extend_, lane_number_;
  V32 rotation_;
  const std::int32_t* target_ = nullptr;
  std::uint8_t* trace_ = nullptr;
  std::uint8_t* strip_trace_ = nullptr;
  std::int64_t plane_bytes_ = 0, steps_ = 0;
};

template <bool kLocal, bool kTrace>
void run_slab_of(const Slab& slab, SlabResult& result) {
  if (slab.small_table) {
    SlabKernel<kLocal, true, kTrace>(slab).run(result);
  } else {
    SlabKernel<kLocal, false, kTrace>(slab).run(result);
  }
}

void run_slab(const Slab& slab, bool trace, SlabResult& result) {
  if (slab.options->mode == Mode::local) {
    trace ? run_slab_of<true, true>(slab, result) : run_slab_of<true, false>(slab, result);
  } else {
    trace ? run_slab_of<false, true>(slab, result) : run_slab_of<false, false>(slab, result);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::align {

HWY_EXPORT(run_slab);

void align_slab(const Slab& slab, bool trace, SlabResult& result) {
  HWY_DYNAMIC_DISPATCH(run_slab)(slab, trace, result);
}

}  // namespace biogpu::align
#endif
