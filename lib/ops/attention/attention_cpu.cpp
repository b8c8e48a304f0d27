// Attention of one head of one sequence: a block of queries at a time against all keys, the queries
// in the lanes of vectors, so that a head of any size and a sequence of any length fill them. The
// block's scores stay in cache: memory grows with the length and not with its square.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention/attention_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/scores-inl.hpp"
#include "lib/ops/attention/softmax-inl.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

constexpr float kLog2 = 0.693147181f;

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
  constexpr float kMin = std::numeric_limits<float>::lowest();
  for (std::int64_t j = 0; j < at.q.n; ++j)
    scores[j * pitch] += std::max(kUnits * from[one ? 0 : j], kMin);
}

template <int kVectors>
void attend_block(const Attention& op, const Place& at, std::int64_t row,
                  const HeadScratch& scratch) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes(), n = at.q.n, size = at.q.size;
  const std::int64_t value_size = op.v.shape[2];
  const std::int64_t n_rows = std::min(pitch, n - row);
  pack_queries(at.q, row, kUnits * op.scale, pitch, scratch.queries);
  score_block<kVectors>(scratch.keys, padded_head(size), n, size, scratch.queries, scratch.scores);
  if (!op.bias.empty())
    for (std::int64_t i = 0; i < n_rows; ++i)
      add_bias(op.bias, at, row + i, scratch.scores + i, pitch);
  if (op.soft_cap > 0) cap_scores(scratch.scores, n * pitch, kUnits * op.soft_cap);
  HWY_ALIGN float tops[kMaxQueries], sums[kMaxQueries], inverse[kMaxQueries];
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
  mix_block<kVectors>(scratch.scores, scratch.values, n, value_size, inverse, scratch.queries);
  unpack_rows(scratch.queries, pitch, n_rows, value_size,
              op.out.row<float>(at.first + row) + at.head * value_size, op.out.stride[0]);
}

std::int64_t scratch_size(std::int64_t length, std::int64_t head_size, std::int64_t value_size) {
  return HeadScratch::size(length, head_size, value_size);
}

void attend_head(const Attention& op, std::int64_t s, std::int64_t head, float* memory) {
  const std::int64_t first = op.segments->begin(s), n = op.segments->length(s);
  const Place place{s, head, first, head_of(op.q, first, n, head)};
  const HeadScratch scratch(memory, n, place.q.size, op.v.shape[2]);
  const std::int64_t key_head = head / (op.q.shape[1] / op.k.shape[1]);
  copy_head(head_of(op.k, first, n, key_head), scratch.keys);
  copy_head(head_of(op.v, first, n, key_head), scratch.values);
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
        HWY_DYNAMIC_DISPATCH(scratch_size)(segments.length(s), op.q.shape[2], op.v.shape[2]));
    HWY_DYNAMIC_DISPATCH(attend_head)(op, s, i % n_heads, scratch);
  });
}

}  // namespace biogpu::ops
#endif
