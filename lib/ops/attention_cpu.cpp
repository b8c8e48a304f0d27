// Attention of one head of one sequence: a block of queries at a time against all keys, the queries
// in the lanes of vectors, so that a head of any size and a sequence of any length fill them. The
// block's scores stay in cache: memory grows with the length and not with its square.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "lib/ops/attention.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/scores-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

constexpr float kLog2 = 0.693147181f;

// Elements of a head that are summed at a time; they divide every size of a head.
constexpr int kElements = HWY_MAX_BYTES >= 64 ? 8 : 4;

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

// mixed[e * pitch + i] = (sum_j scores_ji values_je) * inverse[i]
template <int kVectors>
void mix_block(const float* scores, const float* values, std::int64_t n, std::int64_t size,
               const float* inverse, float* mixed) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes();
  for (std::int64_t e = 0; e < size; e += kElements) {
    const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
      float* const to = mixed + (e + r) * pitch;
      hn::Store(hn::Mul(first, hn::Load(f32, inverse)), f32, to);
      if constexpr (kVectors == 2)
        hn::Store(hn::Mul(second, hn::Load(f32, inverse + pitch / 2)), f32, to + pitch / 2);
    };
    tile<kElements, kVectors>({values + e, 1, size}, scores, n, store);
  }
}

// One head of one sequence, where its tokens begin, and its queries.
struct Place {
  std::int64_t sequence;
  std::int64_t head;
  std::int64_t first;
  Head q;
};

// To the scores of one query, one for each key.
void add_bias(const Tensor& bias, const Place& at, std::int64_t row, float* scores,
              std::int64_t pitch) {
  const float* from = bias.as<float>();
  const std::int64_t index[] = {at.sequence, at.head, row};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (bias.shape[axis] > 1) from += index[axis] * bias.stride[axis];
  const bool one = bias.shape[3] == 1;
  // A mask may be the least number there is: in other units it must not become an infinity.
  constexpr float kLeast = std::numeric_limits<float>::lowest();
  for (std::int64_t j = 0; j < at.q.n; ++j)
    scores[j * pitch] += std::max(kUnits * from[one ? 0 : j], kLeast);
}

template <int kVectors>
void attend_block(const Attention& op, const Place& at, std::int64_t row,
                  const HeadScratch& scratch) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes(), n = at.q.n, size = at.q.size;
  const std::int64_t n_rows = std::min(pitch, n - row);
  pack_queries(at.q, row, kUnits * op.scale, pitch, scratch.queries);
  score_block<kVectors>(scratch.keys, n, size, scratch.queries, scratch.scores);
  if (!op.bias.empty())
    for (std::int64_t i = 0; i < n_rows; ++i)
      add_bias(op.bias, at, row + i, scratch.scores + i, pitch);
  HWY_ALIGN float tops[kMostQueries], sums[kMostQueries], inverse[kMostQueries];
  for (std::int64_t i = 0; i < pitch; i += n_lanes()) {
    Vec top;
    const Vec sum = exponentiate(scratch.scores + i, n, pitch, top);
    hn::Store(top, f32, tops + i);
    hn::Store(sum, f32, sums + i);
    hn::Store(hn::Div(hn::Set(f32, 1.0f), sum), f32, inverse + i);
  }
  if (!op.log_sum_exp.empty())
    for (std::int64_t i = 0; i < n_rows; ++i)
      op.log_sum_exp.row<float>(at.head)[at.first + row + i] = kLog2 * tops[i] + std::log(sums[i]);
  mix_block<kVectors>(scratch.scores, scratch.values, n, size, inverse, scratch.queries);
  unpack_rows(scratch.queries, pitch, n_rows, size,
              op.out.row<float>(at.first + row) + at.head * size, op.out.stride[0]);
}

std::int64_t scratch_size(std::int64_t length, std::int64_t head_size) {
  return HeadScratch::size(length, head_size);
}

void attend_head(const Attention& op, std::int64_t s, std::int64_t head, float* memory) {
  const std::int64_t first = op.segments->begin(s), n = op.segments->length(s);
  const Place place{s, head, first, head_of(op.q, first, n, head)};
  const HeadScratch scratch(memory, n, place.q.size);
  copy_head(head_of(op.k, first, n, head), scratch.keys);
  copy_head(head_of(op.v, first, n, head), scratch.values);
  for (std::int64_t row = 0; row < n; row += 2 * n_lanes()) {
    if (n - row > n_lanes()) {
      attend_block<2>(op, place, row, scratch);
    } else {
      attend_block<1>(op, place, row, scratch);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(scratch_size);
HWY_EXPORT(attend_head);

void attention_cpu(CpuContext& context, const Attention& op) {
  const Ragged& segments = *op.segments;
  // Longest first, so that no thread ends with a long one alone.
  std::vector<std::int64_t> order(static_cast<std::size_t>(segments.n_segments));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return segments.length(a) > segments.length(b);
  });
  const std::int64_t n_heads = op.q.shape[1];
  context.for_each(segments.n_segments * n_heads, [&](std::int64_t i) {
    const std::int64_t s = order[static_cast<std::size_t>(i / n_heads)];
    float* const scratch = context.scratch().reserve(
        HWY_DYNAMIC_DISPATCH(scratch_size)(segments.length(s), op.q.shape[2]));
    HWY_DYNAMIC_DISPATCH(attend_head)(op, s, i % n_heads, scratch);
  });
}

}  // namespace biogpu::ops
#endif
