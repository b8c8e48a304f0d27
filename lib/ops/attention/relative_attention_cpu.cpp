// Attention with a term of the distance: a block of queries in the lanes of vectors against all
// keys of its segment, and against the band of distances that they have to them. The band's product
// has one row a distance; the score of key j and query i is in row j - i, so lane i is read i rows
// further up: two bits of i at a time, by blends of whole vectors. A block's scores and band stay
// in cache: memory grows with the length and not with its square.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention/relative_attention_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

#include "lib/ops/attention/relative_attention.hpp"
#include "lib/ops/attention/softmax-inl.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Memory of one task; pitch: queries of a block.
struct RelativeScratch {
  float* keys;      // [n, padded d_k]
  float* values;    // [n, padded d_v]
  float* content;   // [d_k, pitch]: queries with the content bias
  float* position;  // [d_k, pitch]: queries with the position bias
  float* mixed;     // [padded d_v, pitch]
  float* scores;    // [n, pitch]
  float* band;      // [n + pitch - 1, pitch]; a vector's rows in front of it may be read

  RelativeScratch(float* memory, std::int64_t n, std::int64_t d_k, std::int64_t d_v) {
    const std::int64_t pitch = 2 * n_lanes();
    keys = memory;
    values = keys + round_up(n * padded_head(d_k), pitch);
    content = values + round_up(n * padded_head(d_v), pitch);
    position = content + d_k * pitch;
    mixed = position + d_k * pitch;
    scores = mixed + padded_head(d_v) * pitch;
    band = scores + n * pitch + n_lanes() * pitch;
  }
  static std::int64_t size(std::int64_t n, std::int64_t d_k, std::int64_t d_v) {
    const std::int64_t pitch = 2 * n_lanes();
    return round_up(n * padded_head(d_k), pitch) + round_up(n * padded_head(d_v), pitch) +
           pitch * (2 * d_k + padded_head(d_v) + 2 * n + pitch + n_lanes());
  }
};

// Row b of x with lane i of each vector from row b - shift * (i / shift % 4). At most the last of
// those rows that a vector's lanes are taken from matters, so others may hold anything.
class Shear {
 public:
  HWY_INLINE explicit Shear(std::int64_t shift) : shift_(shift) {
    const F32 f32;
    HWY_ALIGN float number[HWY_MAX_BYTES / sizeof(float)];
    for (std::int64_t i = 0; i < n_lanes(); ++i) number[i] = static_cast<float>(i / shift % 4);
    numbers_ = hn::Load(f32, number);
  }
  HWY_INLINE Vec row(const float* x, std::int64_t pitch) const {
    const F32 f32;
    const auto taken = [&](float k) HWY_ATTR { return hn::Eq(numbers_, hn::Set(f32, k)); };
    const auto above = [&](std::int64_t k)
                           HWY_ATTR { return hn::Load(f32, x - k * shift_ * pitch); };
    Vec y = hn::IfThenElse(taken(1), above(1), above(0));
    if (2 * shift_ < n_lanes()) {
      y = hn::IfThenElse(taken(2), above(2), y);
      y = hn::IfThenElse(taken(3), above(3), y);
    }
    return y;
  }

 private:
  std::int64_t shift_;
  Vec numbers_;
};

// scores[j][i] += band[j - i + pitch - 1][i]; the band is overwritten.
template <int kVectors>
void add_skewed(float* band, std::int64_t n, float* scores) {
  const F32 f32;
  const std::int64_t lanes = n_lanes(), pitch = kVectors * lanes;
  std::int64_t shift = 1;
  for (; 4 * shift < lanes; shift *= 4) {
    const Shear shear(shift);
    // From the last row on, for rows are read that lie further up.
    for (std::int64_t b = n + pitch - 1; b-- > 0;)
      for (std::int64_t i = 0; i < pitch; i += lanes)
        hn::Store(shear.row(band + b * pitch + i, pitch), f32, band + b * pitch + i);
  }
  const Shear shear(shift);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < pitch; i += lanes) {
      const Vec term = shear.row(band + (j + pitch - 1 - i) * pitch + i, pitch);
      float* const score = scores + j * pitch + i;
      hn::Store(hn::Add(hn::Load(f32, score), term), f32, score);
    }
}

// Both panels of a block's queries, in units of ln 2.
void pack_biased(const RelativeAttention& op, const Head& q, std::int64_t head, std::int64_t row,
                 std::int64_t pitch, const RelativeScratch& scratch) {
  const F32 f32;
  const float* const content = op.content_bias.row<float>(head);
  const float* const position = op.position_bias.row<float>(head);
  pack_queries(q, row, kUnits, pitch, scratch.content);
  for (std::int64_t e = 0; e < q.size; ++e)
    for (std::int64_t i = e * pitch; i < (e + 1) * pitch; i += n_lanes()) {
      const Vec query = hn::Load(f32, scratch.content + i);
      hn::Store(hn::Add(query, hn::Set(f32, kUnits * position[e])), f32, scratch.position + i);
      hn::Store(hn::Add(query, hn::Set(f32, kUnits * content[e])), f32, scratch.content + i);
    }
}

template <int kVectors>
void relative_block(const RelativeAttention& op, std::int64_t first, const Head& q,
                    std::int64_t head, std::int64_t row, const RelativeScratch& scratch) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes(), n = q.n, d_k = q.size, d_v = op.v.shape[2];
  pack_biased(op, q, head, row, pitch, scratch);
  score_block<kVectors>(scratch.keys, padded_head(d_k), n, d_k, scratch.content, scratch.scores);
  // Row b of the band is that of distance b - (row + pitch - 1). Those of the first rows belong to
  // queries past the last one alone, and may lie outside of op.relative.
  const std::int64_t begin = std::max<std::int64_t>(0, row + pitch - n);
  std::fill_n(scratch.band, begin * pitch, 0.0f);
  const std::int64_t most = (op.relative.shape[1] + 1) / 2;
  const float* const relative =
      op.relative.row<float>(head) + (begin - (row + pitch - 1) + most - 1) * d_k;
  score_block<kVectors>(relative, d_k, n + pitch - 1 - begin, d_k, scratch.position,
                        scratch.band + begin * pitch);
  add_skewed<kVectors>(scratch.band, n, scratch.scores);
  HWY_ALIGN float inverse[kMaxQueries];
  for (std::int64_t i = 0; i < pitch; i += n_lanes()) {
    Vec top;
    const Vec sum = exponentiate(scratch.scores + i, n, pitch, top);
    hn::Store(hn::Div(hn::Set(f32, 1.0f), sum), f32, inverse + i);
  }
  mix_block<kVectors>(scratch.scores, scratch.values, n, d_v, inverse, scratch.mixed);
  unpack_rows(scratch.mixed, pitch, std::min(pitch, n - row), d_v,
              op.out.row<float>(first + row) + head * d_v, op.out.stride[0]);
}

std::int64_t relative_scratch_size(std::int64_t n, std::int64_t d_k, std::int64_t d_v) {
  return RelativeScratch::size(n, d_k, d_v);
}

// Queries [begin, end) of a segment.
void relative_rows(const RelativeAttention& op, std::int64_t segment, std::int64_t head,
                   std::int64_t begin, std::int64_t end, float* memory) {
  const std::int64_t first = op.segments->begin(segment), n = op.segments->length(segment);
  const Head q = head_of(op.q, first, n, head);
  const RelativeScratch scratch(memory, n, q.size, op.v.shape[2]);
  copy_head(head_of(op.k, first, n, head), scratch.keys);
  copy_head(head_of(op.v, first, n, head), scratch.values);
  for (std::int64_t row = begin; row < end; row += 2 * n_lanes()) {
    if (end - row > n_lanes()) {
      relative_block<2>(op, first, q, head, row, scratch);
    } else {
      relative_block<1>(op, first, q, head, row, scratch);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(relative_scratch_size);
HWY_EXPORT(relative_rows);

namespace {

// Queries [begin, end) of a segment: so many that copying its keys and values for them costs
// little, and, but for the last ones, a multiple of every block's queries.
struct RelativeTask {
  std::int64_t segment, begin, end;
};
constexpr std::int64_t kQueriesOfTask = 256;

std::vector<RelativeTask> relative_tasks(const Ragged& segments) {
  std::vector<RelativeTask> tasks;
  for (std::int64_t s = 0; s < segments.n_segments; ++s)
    for (std::int64_t begin = 0; begin < segments.length(s); begin += kQueriesOfTask)
      tasks.push_back({s, begin, std::min(segments.length(s), begin + kQueriesOfTask)});
  // Longest first, so that no thread ends with a long one alone.
  std::stable_sort(tasks.begin(), tasks.end(), [&](const RelativeTask& a, const RelativeTask& b) {
    return segments.length(a.segment) > segments.length(b.segment);
  });
  return tasks;
}

}  // namespace

void relative_attention_cpu(CpuContext& context, const RelativeAttention& op) {
  const std::vector<RelativeTask> tasks = relative_tasks(*op.segments);
  const std::int64_t n_heads = op.q.shape[1], d_k = op.q.shape[2], d_v = op.v.shape[2];
  context.for_each(static_cast<std::int64_t>(tasks.size()) * n_heads, [&](std::int64_t i) {
    const RelativeTask& task = tasks[static_cast<std::size_t>(i / n_heads)];
    const std::int64_t n = op.segments->length(task.segment);
    float* const scratch =
        context.scratch().reserve(HWY_DYNAMIC_DISPATCH(relative_scratch_size)(n, d_k, d_v));
    HWY_DYNAMIC_DISPATCH(relative_rows)
    (op, task.segment, i % n_heads, task.begin, task.end, scratch);
  });
}

}  // namespace biogpu::ops
#endif
