// Attention of few queries over keys that are elsewhere: one query and head at a time, the numbers
// of a head in the lanes of vectors of eight. Keys and values are read where they are, once a
// query: a step of decoding is bound by their bytes.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention/cross_attention_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/attention/head-inl.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

using CrossPart = hn::CappedTag<float, 8>;
constexpr float kCrossUnits = 1.44269504f;  // scores are exponents of two

// scores[j] = scale * (query times key j), for n keys; behind them up to a whole vector the least
// number there is.
void cross_scores(const float* query, const Head& keys, float scale, float* scores) {
  const CrossPart part;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(part));
  for (std::int64_t j = 0; j < keys.n; ++j) {
    const float* const key = keys.data + j * keys.stride;
    auto sum = hn::Zero(part);
    std::int64_t e = 0;
    for (; e + lanes <= keys.size; e += lanes)
      sum = hn::MulAdd(hn::LoadU(part, query + e), hn::LoadU(part, key + e), sum);
    float rest = 0;
    for (; e < keys.size; ++e) rest += query[e] * key[e];
    scores[j] = scale * (hn::GetLane(hn::SumOfLanes(part, sum)) + rest);
  }
  const auto whole = static_cast<std::int64_t>(hn::Lanes(F32()));
  for (std::int64_t j = keys.n; j % whole != 0; ++j)
    scores[j] = std::numeric_limits<float>::lowest();
}

// scores[j] -> 2^(score - the greatest one); returns their sum.
float cross_weights(float* scores, std::int64_t n) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  Vec top = hn::Load(f32, scores);
  for (std::int64_t j = lanes; j < n; j += lanes) top = hn::Max(top, hn::Load(f32, scores + j));
  top = hn::MaxOfLanes(f32, top);
  Vec sum = hn::Zero(f32);
  for (std::int64_t j = 0; j < n; j += lanes) {
    const Vec weight = exp2_of(hn::Sub(hn::Load(f32, scores + j), top));
    hn::Store(weight, f32, scores + j);
    sum = hn::Add(sum, weight);
  }
  return hn::GetLane(hn::SumOfLanes(f32, sum));
}

// out = (sum_j weights_j values_j) / sum, four vectors of a head at a time.
void cross_mix(const float* weights, const Head& values, float sum, float* out) {
  const CrossPart part;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(part));
  const auto inverse = hn::Set(part, sum > 0 ? 1.0f / sum : 0.0f);
  std::int64_t e = 0;
  for (; e + 4 * lanes <= values.size; e += 4 * lanes) {
    auto y0 = hn::Zero(part), y1 = y0, y2 = y0, y3 = y0;
    const float* value = values.data + e;
    for (std::int64_t j = 0; j < values.n; ++j, value += values.stride) {
      const auto weight = hn::Set(part, weights[j]);
      y0 = hn::MulAdd(weight, hn::LoadU(part, value), y0);
      y1 = hn::MulAdd(weight, hn::LoadU(part, value + lanes), y1);
      y2 = hn::MulAdd(weight, hn::LoadU(part, value + 2 * lanes), y2);
      y3 = hn::MulAdd(weight, hn::LoadU(part, value + 3 * lanes), y3);
    }
    hn::StoreU(hn::Mul(y0, inverse), part, out + e);
    hn::StoreU(hn::Mul(y1, inverse), part, out + e + lanes);
    hn::StoreU(hn::Mul(y2, inverse), part, out + e + 2 * lanes);
    hn::StoreU(hn::Mul(y3, inverse), part, out + e + 3 * lanes);
  }
  for (; e + lanes <= values.size; e += lanes) {
    auto y = hn::Zero(part);
    for (std::int64_t j = 0; j < values.n; ++j)
      y = hn::MulAdd(hn::Set(part, weights[j]),
                     hn::LoadU(part, values.data + j * values.stride + e), y);
    hn::StoreU(hn::Mul(y, inverse), part, out + e);
  }
  for (; e < values.size; ++e) {
    float y = 0;
    for (std::int64_t j = 0; j < values.n; ++j)
      y += weights[j] * values.data[j * values.stride + e];
    out[e] = y * hn::GetLane(inverse);
  }
}

// Query row t and one head over n keys from row `first` on; scores has room for n and a vector.
void cross_row(const CrossAttention& op, std::int64_t t, std::int64_t head, std::int64_t first,
               std::int64_t n, float* scores) {
  const std::int64_t h = op.q.shape[2], key_head = head / (op.q.shape[1] / op.k.shape[1]);
  float* const out = op.out.row<float>(t) + head * h;
  if (n == 0) {
    std::fill_n(out, h, 0.0f);
    return;
  }
  cross_scores(op.q.row<float>(t) + head * op.q.stride[1], head_of(op.k, first, n, key_head),
               kCrossUnits * op.scale, scores);
  const float sum = cross_weights(scores, n);
  cross_mix(scores, head_of(op.v, first, n, key_head), sum, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(cross_row);

void cross_attention_cpu(CpuContext& context, const CrossAttention& op) {
  const Ragged& queries = *op.queries;
  const auto* const starts = op.key_starts.as<std::int32_t>();
  const auto* const counts = op.key_counts.as<std::int32_t>();
  const std::int64_t n_heads = op.q.shape[1];
  context.for_each(queries.n_segments * n_heads, [&](std::int64_t i) {
    const std::int64_t s = i / n_heads, first = starts[s];
    const std::int64_t n_keys = counts == nullptr ? starts[s + 1] - first : std::int64_t{counts[s]};
    float* const scores = context.scratch().reserve(n_keys + HWY_MAX_BYTES);
    for (std::int64_t t = queries.begin(s); t < queries.end(s); ++t) {
      const std::int64_t unseen = op.causal ? queries.end(s) - 1 - t : 0;
      HWY_DYNAMIC_DISPATCH(cross_row)
      (op, t, i % n_heads, first, std::max<std::int64_t>(0, n_keys - unseen), scores);
    }
  });
}

}  // namespace biogpu::ops
#endif
