#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/reduction/mean_pool_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/reduction/mean_pool.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void mean_of_segment(const MeanPool& op, std::int64_t s) {
  const F32 f32;
  const std::int64_t first = op.segments->begin(s) + op.skip_begin,
                     last = op.segments->end(s) - op.skip_end;
  const float share = last > first ? 1.0f / static_cast<float>(last - first) : 0.0f;
  for_vectors(op.out.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    Vec sum = hn::Zero(f32);
    for (std::int64_t t = first; t < last; ++t)
      sum = hn::Add(sum, load_first(op.x.row<float>(t) + i, n));
    store_first(hn::Mul(sum, hn::Set(f32, share)), n, op.out.row<float>(s) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(mean_of_segment);

void mean_pool_cpu(CpuContext& context, const MeanPool& op) {
  context.for_each(op.segments->n_segments, [&](std::int64_t s) {
    HWY_DYNAMIC_DISPATCH(mean_of_segment)(op, s);
  });
}

}  // namespace biogpu::ops
#endif
