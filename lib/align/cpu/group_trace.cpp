// Scores, ends and trace bits of a group.
#include "lib/align/cpu/targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/cpu/group_trace.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/align/cpu/group_kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

template <class T>
void trace_group_of(const GroupJob& job, GroupResult& result) {
  if (job.options->mode == Mode::local) {
    run_group<T, true, Want::trace>(job, result);
  } else {
    run_group<T, false, Want::trace>(job, result);
  }
}

void trace_group(const GroupJob& job, GroupResult& result) {
  if (job.narrow) {
    trace_group_of<std::int8_t>(job, result);
  } else {
    trace_group_of<std::int16_t>(job, result);
  }
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
