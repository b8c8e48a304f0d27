#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/neighbours/radial_basis_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/neighbours/radial_basis.hpp"
#include "lib/ops/neighbours/radial_terms.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void radial_functions_of(const RadialBasis& op, std::int64_t e) {
  const F32 f32;
  const RadialTerms<float> terms(op.distance.as<float>()[e], op.cutoff_lower, op.cutoff_upper);
  const Vec scaled = hn::Set(f32, terms.scaled), cutoff = hn::Set(f32, terms.cutoff);
  for_vectors(op.out.shape[1], [&](std::int64_t k, std::size_t n) HWY_ATTR {
    const Vec off = hn::Sub(scaled, load_first(op.means.as<float>() + k, n));
    const Vec power = hn::Mul(hn::Mul(load_first(op.betas.as<float>() + k, n), off), off);
    store_first(hn::Mul(cutoff, exp_of(hn::Neg(power))), n, op.out.row<float>(e) + k);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(radial_functions_of);

void radial_basis_cpu(CpuContext& context, const RadialBasis& op) {
  context.for_rows(op.out.shape[0], [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) HWY_DYNAMIC_DISPATCH(radial_functions_of)(op, e);
  });
}

}  // namespace biogpu::ops
#endif
