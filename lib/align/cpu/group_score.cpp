// Scores and ends of a group.
#include "lib/align/cpu/targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/group_score.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/align/cpu/group_kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

int count_lanes(bool narrow) {
  return static_cast<int>(narrow ? hn::Lanes(Tag<std::int8_t>()) : hn::Lanes(Tag<std::int16_t>()));
}

template <class T>
void score_group_of(const GroupJob& job, GroupResult& result) {
  if (job.options->mode != Mode::local) {
    run_group<T, false, Want::score>(job, result);
  } else if (job.options->output == Output::score) {
    run_group<T, true, Want::score>(job, result);
  } else {
    run_group<T, true, Want::ends>(job, result);
  }
}

void score_group(const GroupJob& job, GroupResult& result) {
  if (job.narrow) {
    score_group_of<std::int8_t>(job, result);
  } else {
    score_group_of<std::int16_t>(job, result);
  }
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

}  // namespace biogpu::align
#endif
