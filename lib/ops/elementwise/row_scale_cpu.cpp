#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/elementwise/row_scale_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/elementwise/row_scale.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void scale_row(const RowScale& op, std::int64_t r) {
  const Vec scale = hn::Set(F32(), op.scale.as<float>()[r]);
  for_vectors(op.x.shape[1], [&](std::int64_t f, std::size_t n) HWY_ATTR {
    store_first(hn::Mul(scale, load_first(op.x.row<float>(r) + f, n)), n, op.out.row<float>(r) + f);
  });
}

void scale_grad_of_row(const RowScaleGrad& op, std::int64_t r) {
  const F32 f32;
  const Vec scale = hn::Set(f32, op.scale.as<float>()[r]);
  Vec sum = hn::Zero(f32);
  for_vectors(op.x.shape[1], [&](std::int64_t f, std::size_t n) HWY_ATTR {
    const Vec g = load_first(op.d_out.row<float>(r) + f, n);
    sum = hn::MulAdd(g, load_first(op.x.row<float>(r) + f, n), sum);
    store_first(hn::Mul(scale, g), n, op.d_x.row<float>(r) + f);
  });
  op.d_scale.as<float>()[r] = hn::GetLane(hn::SumOfLanes(f32, sum));
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(scale_row);
HWY_EXPORT(scale_grad_of_row);

void row_scale_cpu(CpuContext& context, const RowScale& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(scale_row)(op, r);
  });
}

void row_scale_grad_cpu(CpuContext& context, const RowScaleGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(scale_grad_of_row)(op, r);
  });
}

}  // namespace biogpu::ops
#endif
