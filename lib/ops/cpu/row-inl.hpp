// Rows in vectors, and their normalisation; for re-inclusion once per target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_ROW_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_ROW_INL_HPP
#undef BIOGPU_OPS_ROW_INL_HPP
#else
#define BIOGPU_OPS_ROW_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

#include "lib/ops/cpu/math-inl.hpp"
#include "lib/ops/declare.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Calls body(i, lanes) for the vectors of n numbers; the last has fewer lanes.
template <class Body>
HWY_INLINE void for_vectors(std::int64_t n, const Body& body) {
  const std::size_t all = hn::Lanes(F32());
  const auto lanes = static_cast<std::int64_t>(all);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, all);
  if (i < n) body(i, static_cast<std::size_t>(n - i));
}

// The row may be the memory of a target: every target is written after the row was read. kCentred:
// layer norm; else RMS norm, of which the mean is not taken off.
template <bool kCentred = true>
HWY_INLINE void normalise(const float* x, std::int64_t d, const Norm& norm, float* out,
                          float* out_operand) {
  const F32 f32;
  Vec total = hn::Zero(f32);
  if constexpr (kCentred) {
    for_vectors(d, [&](std::int64_t i, std::size_t n)
                       HWY_ATTR { total = hn::Add(total, load_first(x + i, n)); });
  }
  const Vec mean = hn::Mul(hn::SumOfLanes(f32, total), hn::Set(f32, 1.0f / static_cast<float>(d)));
  Vec squares = hn::Zero(f32);
  for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec off = hn::IfThenElseZero(hn::FirstN(f32, n), hn::Sub(load_first(x + i, n), mean));
    squares = hn::MulAdd(off, off, squares);
  });
  const float variance = hn::GetLane(hn::SumOfLanes(f32, squares)) / static_cast<float>(d);
  const Vec scale = hn::Set(f32, 1.0f / std::sqrt(variance + norm.eps));
  const float* const weight = norm.weight.as<float>();
  const float* const bias = norm.bias.as<float>();
  for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec off = hn::Mul(hn::Sub(load_first(x + i, n), mean), scale);
    const Vec factor = weight != nullptr ? load_first(weight + i, n) : hn::Set(f32, 1.0f);
    const Vec y =
        hn::MulAdd(off, factor, bias != nullptr ? load_first(bias + i, n) : hn::Zero(f32));
    if (out != nullptr) store_first(y, n, out + i);
    if (out_operand != nullptr) store_first(y, n, out_operand + i);
  });
}

HWY_INLINE float* row_or_null(const Tensor& tensor, std::int64_t row) {
  return tensor.empty() ? nullptr : tensor.row<float>(row);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
