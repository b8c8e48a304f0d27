// Functions of any number, where math-inl.hpp has those of a range; for re-inclusion once per
// target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_LOG_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_LOG_EXP_INL_HPP
#undef BIOGPU_OPS_LOG_EXP_INL_HPP
#else
#define BIOGPU_OPS_LOG_EXP_INL_HPP
#endif

#include <hwy/highway.h>

#include <limits>

#include "lib/ops/cpu/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// e^x; 0 below -87, infinity above 88.8, NaN of NaN. Relative error below 5e-7.
HWY_INLINE Vec any_exp(Vec x) {
  const F32 f32;
  // Where 2^n has no place in an exponent, the square of the root.
  const auto large = hn::Gt(x, hn::Set(f32, 87.0f));
  const Vec y = exp_of(
      hn::Min(hn::IfThenElse(large, hn::Mul(x, hn::Set(f32, 0.5f)), x), hn::Set(f32, 88.0f)));
  return hn::IfThenElse(hn::Eq(x, x), hn::IfThenElse(large, hn::Mul(y, y), y), x);
}

// log x: -infinity of 0, NaN below and of NaN. Relative error below 2e-7, away from the root at 1
// as near it.
HWY_INLINE Vec any_log(Vec x) {
  const F32 f32;
  const hn::RebindToSigned<F32> i32;
  // (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f of sqrt 1/2 to sqrt 2.
  static constexpr float kSeries[] = {0.333333284f, -0.25000298f,  0.200014666f, -0.166422457f,
                                      0.142022207f, -0.129723132f, 0.127120122f, -0.0810099095f};
  const auto subnormal = hn::Lt(x, hn::Set(f32, std::numeric_limits<float>::min()));
  const Vec scaled = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(f32, 8388608.0f)), x);
  // The exponent that leaves a fraction of sqrt 1/2 to sqrt 2, whose bits are counted from those of
  // the former.
  const auto from_root = hn::Sub(hn::BitCast(i32, scaled), hn::Set(i32, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(from_root);
  const Vec m = hn::BitCast(f32, hn::Sub(hn::BitCast(i32, scaled), hn::ShiftLeft<23>(exponent)));
  const Vec n =
      hn::Sub(hn::ConvertTo(f32, exponent), hn::IfThenElseZero(subnormal, hn::Set(f32, 23.0f)));
  const Vec f = hn::Sub(m, hn::Set(f32, 1.0f));
  const Vec square = hn::Mul(f, f);
  // ln 2 in two parts, the first with few bits, so that the product with n is exact.
  Vec y = hn::Mul(hn::Mul(polynomial(f, kSeries), f), square);
  y = hn::MulAdd(n, hn::Set(f32, -2.12194440e-4f), y);
  y = hn::NegMulAdd(square, hn::Set(f32, 0.5f), y);
  y = hn::MulAdd(n, hn::Set(f32, 0.693359375f), hn::Add(f, y));
  const Vec infinity = hn::Set(f32, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Eq(x, infinity), x, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(f32)), hn::Neg(infinity), y);
  const auto number = hn::Ge(x, hn::Zero(f32));
  return hn::IfThenElse(number, y, hn::Set(f32, std::numeric_limits<float>::quiet_NaN()));
}

// Relative error below 5e-7; NaN of NaN.
HWY_INLINE Vec any_tanh(Vec x) {
  const F32 f32;
  // tanh(x) / x in x^2, for |x| <= 0.625.
  static constexpr float kSeries[] = {1.0f,           -0.333332628f, 0.133311495f,
                                      -0.0537226796f, 0.0205956791f, -0.00566477515f};
  const Vec one = hn::Set(f32, 1.0f), two = hn::Set(f32, 2.0f);
  const Vec magnitude = hn::Min(hn::Abs(x), hn::Set(f32, 20.0f));
  const Vec e = exp_of(hn::Add(magnitude, magnitude));
  const Vec large = hn::CopySign(hn::Sub(one, hn::Div(two, hn::Add(e, one))), x);
  const Vec small = hn::Mul(x, polynomial(hn::Mul(x, x), kSeries));
  const Vec y = hn::IfThenElse(hn::Le(magnitude, hn::Set(f32, 0.625f)), small, large);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

// x^y for x >= 0, as e^(y log x): the relative error grows with |y log x|, 2e-6 at 16.
HWY_INLINE Vec power_of(Vec x, Vec y) { return any_exp(hn::Mul(y, any_log(x))); }

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
