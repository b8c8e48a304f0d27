// Softmax over the scores of a block of queries, and the sums of values by its weights; for
// re-inclusion once per target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_SOFTMAX_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_SOFTMAX_INL_HPP
#undef BIOGPU_OPS_SOFTMAX_INL_HPP
#else
#define BIOGPU_OPS_SOFTMAX_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "lib/ops/attention/scores-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Elements of a head that are summed at a time; they divide every padded size.
constexpr int kElements = HWY_MAX_BYTES >= 64 ? 8 : 4;

// scores = cap tanh(scores / cap), for n numbers, a whole number of vectors. tanh(|x|) is
// (1 - t) / (1 + t) with t = e^(-2 |x|).
HWY_INLINE void cap_scores(float* scores, std::int64_t n, float cap) {
  const F32 f32;
  const Vec one = hn::Set(f32, 1.0f), top = hn::Set(f32, cap);
  const Vec factor = hn::Set(f32, -2 * kUnits / cap);
  for (std::int64_t i = 0; i < n; i += n_lanes()) {
    const Vec x = hn::Load(f32, scores + i);
    const Vec t = exp2_of(hn::Mul(hn::Abs(x), factor));
    const Vec y = hn::Mul(top, hn::Div(hn::Sub(one, t), hn::Add(one, t)));
    hn::Store(hn::CopySign(y, x), f32, scores + i);
  }
}

// scores[j * pitch + i] -> 2^(score - top of query i), for one vector of queries; returns their
// sums and sets top. Four chains, for one would wait for itself.
HWY_INLINE Vec exponentiate(float* scores, std::int64_t n, std::int64_t pitch, Vec& top) {
  const F32 f32;
  const std::int64_t whole = n / 4 * 4;
  const auto score = [&](std::int64_t j) HWY_ATTR { return hn::Load(f32, scores + j * pitch); };
  Vec top0 = score(0), top1 = top0, top2 = top0, top3 = top0;
  for (std::int64_t j = 0; j < whole; j += 4) {
    top0 = hn::Max(top0, score(j));
    top1 = hn::Max(top1, score(j + 1));
    top2 = hn::Max(top2, score(j + 2));
    top3 = hn::Max(top3, score(j + 3));
  }
  for (std::int64_t j = whole; j < n; ++j) top0 = hn::Max(top0, score(j));
  top = hn::Max(hn::Max(top0, top1), hn::Max(top2, top3));
  const auto weight = [&](std::int64_t j) HWY_ATTR {
    const Vec p = exp2_of(hn::Sub(score(j), top));
    hn::Store(p, f32, scores + j * pitch);
    return p;
  };
  Vec sum0 = hn::Zero(f32), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (std::int64_t j = 0; j < whole; j += 4) {
    sum0 = hn::Add(sum0, weight(j));
    sum1 = hn::Add(sum1, weight(j + 1));
    sum2 = hn::Add(sum2, weight(j + 2));
    sum3 = hn::Add(sum3, weight(j + 3));
  }
  for (std::int64_t j = whole; j < n; ++j) sum0 = hn::Add(sum0, weight(j));
  return hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
}

// mixed[e * pitch + i] = (sum_j scores_ji values_je) * inverse[i] for the padded size of values
template <int kVectors>
void mix_block(const float* scores, const float* values, std::int64_t n, std::int64_t size,
               const float* inverse, float* mixed) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes(), padded = padded_head(size);
  for (std::int64_t e = 0; e < padded; e += kElements) {
    const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
      float* const to = mixed + (e + r) * pitch;
      hn::Store(hn::Mul(first, hn::Load(f32, inverse)), f32, to);
      if constexpr (kVectors == 2)
        hn::Store(hn::Mul(second, hn::Load(f32, inverse + pitch / 2)), f32, to + pitch / 2);
    };
    tile<kElements, kVectors>({values + e, 1, padded}, scores, n, store);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
