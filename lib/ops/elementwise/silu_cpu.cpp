#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/elementwise/silu_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/elementwise/silu.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void silu_of_row(const Silu& op, std::int64_t r) {
  for_vectors(op.x.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec x = load_first(op.x.row<float>(r) + i, n);
    store_first(hn::Mul(x, sigmoid(x)), n, op.out.row<float>(r) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(silu_of_row);

void silu_cpu(CpuContext& context, const Silu& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(silu_of_row)(op, r);
  });
}

}  // namespace biogpu::ops
#endif
