// Rotary positions of one head; for re-inclusion once per target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_ROTARY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_ROTARY_INL_HPP
#undef BIOGPU_OPS_ROTARY_INL_HPP
#else
#define BIOGPU_OPS_ROTARY_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/ops/cpu/row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Of the first 2 half numbers of x; cos_sin: half cosines, then half sines.
HWY_INLINE void rotate_head(float* x, const float* cos_sin, std::int64_t half) {
  for_vectors(half, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec a = load_first(x + i, n);
    const Vec b = load_first(x + half + i, n);
    const Vec c = load_first(cos_sin + i, n);
    const Vec s = load_first(cos_sin + half + i, n);
    store_first(hn::NegMulAdd(b, s, hn::Mul(a, c)), n, x + i);
    store_first(hn::MulAdd(a, s, hn::Mul(b, c)), n, x + half + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
