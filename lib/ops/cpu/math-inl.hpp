// Vector functions of the CPU context, for re-inclusion once per target. The polynomials are
// Chebyshev fits; scripts/reference/fit_functions.py makes and checks them.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_MATH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_MATH_INL_HPP
#undef BIOGPU_OPS_MATH_INL_HPP
#else
#define BIOGPU_OPS_MATH_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using Vec = hn::Vec<F32>;

// The first n numbers at `from`, zeros behind them; nothing past them is read.
HWY_INLINE Vec load_first(const float* from, std::size_t n) {
  const F32 f32;
  if (n >= hn::Lanes(f32)) return hn::LoadU(f32, from);
#if HWY_TARGET == HWY_SSE4
  // Highway's masked load is an aligned one here.
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(from, n, lanes);
  return hn::Load(f32, lanes);
#else
  return hn::MaskedLoad(hn::FirstN(f32, n), f32, from);
#endif
}

// The first n lanes of y to `to`.
HWY_INLINE void store_first(Vec y, std::size_t n, float* to) {
  const F32 f32;
  if (n >= hn::Lanes(f32)) {
    hn::StoreU(y, f32, to);
  } else {
    hn::BlendedStore(y, hn::FirstN(f32, n), f32, to);
  }
}

template <std::size_t n>
HWY_INLINE Vec polynomial(Vec x, const float (&coefficients)[n]) {
  const F32 f32;
  Vec y = hn::Set(f32, coefficients[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(f32, coefficients[i]));
  return y;
}

// e^x for x <= 88; 0 below -87. Relative error below 2e-7.
HWY_INLINE Vec exp_of(Vec x) {
  const F32 f32;
  const hn::RebindToSigned<F32> i32;
  static constexpr float kSeries[] = {1.0f,          1.00000004f,    0.500000011f,  0.166664155f,
                                      0.0416662183f, 0.00837512889f, 0.00139485808f};
  const Vec lowest = hn::Set(f32, -87.0f);
  const auto tiny = hn::Lt(x, lowest);
  x = hn::Max(x, lowest);
  const Vec n = hn::Round(hn::Mul(x, hn::Set(f32, 1.44269504f)));
  // ln 2 in two parts, the first with few bits, so that the product with n is exact.
  Vec r = hn::NegMulAdd(n, hn::Set(f32, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(f32, -2.12194440e-4f), r);
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(i32, n), hn::Set(i32, 127)));
  const Vec y = hn::Mul(polynomial(r, kSeries), hn::BitCast(f32, power));
  return hn::IfThenZeroElse(tiny, y);
}

// 2^x for x < 127; 0 below -126. Relative error below 2e-7. A NaN that arithmetic made stays one;
// of others, which weights are refused for, a number may come.
HWY_INLINE Vec exp2_of(Vec x) {
  const F32 f32;
  const hn::RebindToSigned<F32> i32;
  static constexpr float kSeries[] = {1.0f,           0.693147182f,   0.240226507f,   0.0555032715f,
                                      0.00961802527f, 0.00134004327f, 0.000154697322f};
  // So large that no bits are left for a fraction: the sum's last bits are the nearest whole
  // number.
  const Vec large = hn::Set(f32, 12582912.0f);
  const Vec shifted = hn::Add(x, large);
  const Vec y = polynomial(hn::Sub(x, hn::Sub(shifted, large)), kSeries);
  const auto power = hn::ShiftLeft<23>(hn::BitCast(i32, shifted));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(f32, -126.0f)),
                            hn::BitCast(f32, hn::Add(hn::BitCast(i32, y), power)));
}

// x / 2 (1 + erf(x / sqrt 2)). Error below |x| 2e-7.
HWY_INLINE Vec gelu_erf(Vec x) {
  const F32 f32;
  // erf(z) / z in u = 2 (z / 3.8)^2 - 1; beyond 3.8, erf is 1 to within 1e-7.
  static constexpr float kErf[] = {0.372107607f,   -0.185641385f,   0.137740987f,  -0.111179676f,
                                   0.090806237f,   -0.0725686074f,  0.0552330929f, -0.0387373163f,
                                   0.0261380503f,  -0.0187042394f,  0.0108377054f, -0.00297570518f,
                                   0.00166734447f, -0.00280368395f, 0.00123749026f};
  const Vec limit = hn::Set(f32, 3.8f);
  const Vec z = hn::Min(hn::Max(hn::Mul(x, hn::Set(f32, 0.707106781f)), hn::Neg(limit)), limit);
  const Vec u = hn::MulSub(hn::Mul(z, z), hn::Set(f32, 0.138504155f), hn::Set(f32, 1.0f));
  const Vec erf = hn::Mul(polynomial(u, kErf), z);
  const Vec half = hn::Mul(x, hn::Set(f32, 0.5f));
  return hn::MulAdd(half, erf, half);
}

// 1 / (1 + e^-x). Relative error below 4e-7 for x >= -87.
HWY_INLINE Vec sigmoid(Vec x) {
  const F32 f32;
  const Vec one = hn::Set(f32, 1.0f);
  return hn::Div(one, hn::Add(one, exp_of(hn::Min(hn::Neg(x), hn::Set(f32, 87.0f)))));
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which is x times a sigmoid. Error below |x|
// 2e-7.
HWY_INLINE Vec gelu_tanh(Vec x) {
  const F32 f32;
  const Vec cubic =
      hn::MulAdd(hn::Mul(x, x), hn::Set(f32, 0.0713548163f), hn::Set(f32, 1.59576912f));
  return hn::Mul(x, sigmoid(hn::Mul(x, cubic)));
}

// log(1 + e^x). Relative error below 5e-7 for x >= -87.
HWY_INLINE Vec softplus(Vec x) {
  const F32 f32;
  // log(1 + t) / t in 2 t - 1, for t of 0..1.
  static constexpr float kLog1p[] = {0.810930192f,    -0.144263327f,    0.0331522524f,
                                     -0.0084639322f,  0.00228971755f,   -0.000632129784f,
                                     0.000180876508f, -6.69896544e-05f, 2.052132e-05f};
  const Vec t = exp_of(hn::Neg(hn::Abs(x)));
  const Vec series = polynomial(hn::Sub(hn::Add(t, t), hn::Set(f32, 1.0f)), kLog1p);
  const Vec above = hn::IfThenElse(hn::Lt(x, hn::Zero(f32)), hn::Zero(f32), x);  // keeps no numbers
  return hn::MulAdd(series, t, above);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
