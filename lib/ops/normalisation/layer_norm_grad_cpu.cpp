#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/normalisation/layer_norm_grad_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <cmath>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/normalisation/layer_norm_grad.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void layer_norm_grad_of_row(const LayerNormGrad& op, std::int64_t r) {
  const F32 f32;
  const std::int64_t d = op.x.shape[1];
  const float *const x = op.x.row<float>(r), *const d_out = op.d_out.row<float>(r),
                     *const weight = op.norm.weight.as<float>();
  const Vec per_number = hn::Set(f32, 1.0f / static_cast<float>(d));
  const auto mean_of = [&](Vec total)
                           HWY_ATTR { return hn::Mul(hn::SumOfLanes(f32, total), per_number); };
  Vec total = hn::Zero(f32), squares = total, sum_g = total, sum_gz = total;
  for_vectors(d, [&](std::int64_t i, std::size_t n)
                     HWY_ATTR { total = hn::Add(total, load_first(x + i, n)); });
  const Vec mean = mean_of(total);
  for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec off = hn::IfThenElseZero(hn::FirstN(f32, n), hn::Sub(load_first(x + i, n), mean));
    const Vec g = hn::Mul(load_first(d_out + i, n), load_first(weight + i, n));
    squares = hn::MulAdd(off, off, squares);
    sum_g = hn::Add(sum_g, g);
    sum_gz = hn::MulAdd(off, g, sum_gz);
  });
  const Vec scale = hn::Set(f32, 1.0f / std::sqrt(hn::GetLane(mean_of(squares)) + op.norm.eps));
  const Vec mean_g = mean_of(sum_g), mean_gz = hn::Mul(mean_of(sum_gz), hn::Mul(scale, scale));
  for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec g = hn::Mul(load_first(d_out + i, n), load_first(weight + i, n));
    const Vec off = hn::Sub(load_first(x + i, n), mean);
    store_first(hn::Mul(scale, hn::NegMulAdd(off, mean_gz, hn::Sub(g, mean_g))), n,
                op.d_x.row<float>(r) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(layer_norm_grad_of_row);

void layer_norm_grad_cpu(CpuContext& context, const LayerNormGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) HWY_DYNAMIC_DISPATCH(layer_norm_grad_of_row)(op, r);
  });
}

}  // namespace biogpu::ops
#endif
