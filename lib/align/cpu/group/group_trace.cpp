// Scores, ends and trace bits of a group.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/group/group_trace.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/align/cpu/group/group_difference-inl.hpp"
#include "lib/align/cpu/group/group_local-inl.hpp"
#include "lib/align/cpu/group/group_profile-inl.hpp"
#include "lib/align/cpu/group/group_wide-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

template <template <class> class Source>
void trace_group_of(const GroupJob& job, GroupResult& result) {
  const bool local = job.options->mode == Mode::local;
  if (local && job.narrow) {
    LocalKernel<std::int8_t, Source<std::int8_t>, Want::trace>(job, result).run();
  } else if (local) {
    LocalKernel<std::int16_t, Source<std::int16_t>, Want::trace>(job, result).run();
  } else if (job.narrow) {
    DifferenceKernel<Source<std::uint8_t>, true>(job, result).run();
  } else {
    wide_kernel<Source<std::int16_t>, true>(job, result);
  }
}

void trace_group(const GroupJob& job, GroupResult& result) {
  is_xor_table(job.options->scoring) ? trace_group_of<TableSource>(job, result)
                                     : trace_group_of<ProfileSource>(job, result);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::align {

HWY_EXPORT(trace_group);

void align_group_trace(const GroupJob& job, GroupResult& result) {
  HWY_DYNAMIC_DISPATCH(trace_group)(job, result);
}

}  // namespace biogpu::align
#endif
