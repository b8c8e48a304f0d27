// Scores and ends of a group.
#include "lib/align/cpu/targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/group_score.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/align/cpu/group_difference-inl.hpp"
#include "lib/align/cpu/group_local-inl.hpp"
#include "lib/align/cpu/group_wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

int count_lanes(bool narrow) {
  return static_cast<int>(narrow ? hn::Lanes(Tag<std::int8_t>()) : hn::Lanes(Tag<std::int16_t>()));
}

template <template <class> class Source>
void score_group_of(const GroupJob& job, GroupResult& result) {
  const bool local = job.options->mode == Mode::local;
  const bool ends = job.options->output != Output::score;
  if (local && job.narrow) {
    using T = std::int8_t;
    ends ? LocalKernel<T, Source<T>, Want::ends>(job, result).run()
         : LocalKernel<T, Source<T>, Want::score>(job, result).run();
  } else if (local) {
    using T = std::int16_t;
    ends ? LocalKernel<T, Source<T>, Want::ends>(job, result).run()
         : LocalKernel<T, Source<T>, Want::score>(job, result).run();
  } else if (job.narrow) {
    DifferenceKernel<Source<std::uint8_t>, false>(job, result).run();
  } else {
    wide_kernel<Source<std::int16_t>, false>(job, result);
  }
}

void score_group(const GroupJob& job, GroupResult& result) {
  is_xor_table(job.options->scoring) ? score_group_of<TableSource>(job, result)
                                     : score_group_of<ProfileSource>(job, result);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::align {

HWY_EXPORT(count_lanes);
HWY_EXPORT(score_group);

int group_lanes(bool narrow) { return HWY_DYNAMIC_DISPATCH(count_lanes)(narrow); }

void align_group_score(const GroupJob& job, GroupResult& result) {
  HWY_DYNAMIC_DISPATCH(score_group)(job, result);
}

bool has_small_table(const Scoring& scoring) {
  if (scoring.n_classes > 5) return false;
  for (int c = 0; c < 5; ++c)
    if (scoring.score[4][c] != 0 || scoring.score[c][4] != 0) return false;
  return true;
}

bool is_xor_table(const Scoring& scoring) {
  if (!has_small_table(scoring)) return false;
  for (int q = 0; q < 4; ++q)
    for (int t = 0; t < 4; ++t)
      if (scoring.score[q][t] != scoring.score[0][q ^ t]) return false;
  return true;
}

bool differences_fit(const Scoring& scoring) {
  const int open = scoring.gap_open, extend = scoring.gap_extend;
  // z - q must not fall below 0, and z must not pass 255.
  return open >= extend && scoring.min_score() >= -(open + extend) &&
         scoring.max_score() + 2 * open <= 255;
}

}  // namespace biogpu::align
#endif
