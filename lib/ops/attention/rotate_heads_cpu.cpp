#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention/rotate_heads_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/attention/rotary-inl.hpp"
#include "lib/ops/attention/rotate_heads.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void rotate_heads_of_rows(const RotateHeads& op, std::int64_t begin, std::int64_t end) {
  const std::int64_t half = op.rotary.cos_sin.shape[1] / 2;
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const cos_sin = op.rotary.cos_sin.row<float>(op.positions.as<std::int32_t>()[t]);
    for (std::int64_t head = 0; head < op.x.shape[1]; ++head)
      rotate_head(op.x.row<float>(t) + head * op.x.stride[1], cos_sin, half);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(rotate_heads_of_rows);

void rotate_heads_cpu(CpuContext& context, const RotateHeads& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(rotate_heads_of_rows)(op, begin, end);
  });
}

}  // namespace biogpu::ops
#endif
