// Scores and ends of a group.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/group/group_score.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/align/cpu/group/group_difference-inl.hpp"
#include "lib/align/cpu/group/group_local-inl.hpp"
#include "lib/align/cpu/group/group_profile-inl.hpp"
#include "lib/align/cpu/group/group_wide-inl.hpp"
#include "lib/core/cpu_isa.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

int count_lanes(bool narrow) {
  return static_cast<int>(narrow ? hn::Lanes(Tag<std::int8_t>()) : hn::Lanes(Tag<std::int16_t>()));
}

template <class T>
using MaximumSource = SharedSource<T, false>;
template <class T>
using ThresholdSource = SharedSource<T, HWY_TARGET <= HWY_AVX3 && std::is_same_v<T, std::int8_t>>;

// Of the CPUs that have 512-bit vectors, only Intel's lack the instructions of AVX3_DL.
bool thresholds_pay() {
  if constexpr (HWY_TARGET == HWY_AVX3) return true;
  return HWY_TARGET < HWY_AVX3 && maxima_have_one_port();
}

template <template <class> class Source>
void score_narrow(const GroupJob& job, GroupResult& result) {
  using Signed = Source<std::int8_t>;
  if (job.options->mode != Mode::local) {
    DifferenceKernel<Source<std::uint8_t>, false>(job, result).run();
  } else if (job.options->output != Output::score) {
    LocalKernel<std::int8_t, Signed, Want::ends>(job, result).run();
  } else {
    LocalKernel<std::int8_t, Signed, Want::score>(job, result).run();
  }
}

template <class Source>
void score_wide(const GroupJob& job, GroupResult& result) {
  if (job.options->mode != Mode::local) {
    wide_kernel<Source, false>(job, result);
  } else if (job.options->output != Output::score) {
    LocalKernel<std::int16_t, Source, Want::ends>(job, result).run();
  } else {
    LocalKernel<std::int16_t, Source, Want::score>(job, result).run();
  }
}

void score_group(const GroupJob& job, GroupResult& result) {
  const bool table = is_xor_table(job.options->scoring);
  if (!job.narrow) {
    if (table) {
      score_wide<TableSource<std::int16_t>>(job, result);
    } else if (job.same_query && job.options->output == Output::score &&
               job.options->mode == Mode::local) {
      LocalKernel<std::int16_t, MaximumSource<std::int16_t>, Want::score>(job, result).run();
    } else {
      score_wide<ProfileSource<std::int16_t>>(job, result);
    }
  } else if (table) {
    score_narrow<TableSource>(job, result);
  } else if (job.same_query) {
    if (thresholds_pay()) {
      score_narrow<ThresholdSource>(job, result);
    } else {
      score_narrow<MaximumSource>(job, result);
    }
  } else {
    score_narrow<ProfileSource>(job, result);
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
