#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention/qkv_rotary_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/attention/rotary-inl.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/gemm/gemm.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void rotate_rows(const QkvRotary& op, std::int64_t begin, std::int64_t end) {
  const std::int64_t half = op.rotary.cos_sin.shape[1] / 2;
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const cos_sin = op.rotary.cos_sin.row<float>(op.positions.as<std::int32_t>()[t]);
    for (std::int64_t head = 0; head < 2 * op.n_heads; ++head)
      rotate_head(op.qkv.row<float>(t) + head * 2 * half, cos_sin, half);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(rotate_rows);

void qkv_rotary_cpu(CpuContext& context, const QkvRotary& op) {
  gemm_cpu(context, {op.x, op.linear, Activation::none, {}, op.qkv});
  if (op.rotary.cos_sin.empty()) return;
  context.for_rows(op.x.shape[0], [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(rotate_rows)(op, begin, end);
  });
}

}  // namespace biogpu::ops
#endif
