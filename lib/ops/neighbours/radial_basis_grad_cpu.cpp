#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/neighbours/radial_basis_grad_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/neighbours/radial_basis_grad.hpp"
#include "lib/ops/neighbours/radial_terms.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void radial_slope_of(const RadialBasisGrad& op, std::int64_t e) {
  const F32 f32;
  const RadialTerms<float> terms(op.distance.as<float>()[e], op.cutoff_lower, op.cutoff_upper);
  const Vec scaled = hn::Set(f32, terms.scaled), slope = hn::Set(f32, terms.cutoff_slope),
            factor = hn::Set(f32, terms.scaled_factor);
  Vec sum = hn::Zero(f32);
  for_vectors(op.d_out.shape[1], [&](std::int64_t k, std::size_t n) HWY_ATTR {
    const Vec off = hn::Sub(scaled, load_first(op.means.as<float>() + k, n));
    const Vec steep = hn::Mul(load_first(op.betas.as<float>() + k, n), off);
    const Vec gaussian = exp_of(hn::Neg(hn::Mul(steep, off)));
    const Vec derivative = hn::Mul(hn::MulAdd(steep, factor, slope), gaussian);
    // Zeros behind the last number: they add nothing.
    sum = hn::MulAdd(load_first(op.d_out.row<float>(e) + k, n), derivative, sum);
  });
  op.d_distance.as<float>()[e] = hn::GetLane(hn::SumOfLanes(f32, sum));
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(radial_slope_of);

void radial_basis_grad_cpu(CpuContext& context, const RadialBasisGrad& op) {
  context.for_rows(op.d_out.shape[0], [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(radial_slope_of)(op, e);
  });
}

}  // namespace biogpu::ops
#endif
