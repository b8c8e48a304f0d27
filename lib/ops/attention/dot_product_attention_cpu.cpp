// Attention of one head of one batch row: a block of queries at a time against all keys, the
// queries in the lanes of vectors, as in attention_cpu.cpp. A task has some blocks, so that one row
// with many queries keeps all threads busy.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/attention/dot_product_attention_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/attention/scores-inl.hpp"
#include "lib/ops/attention/softmax-inl.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

#ifndef BIOGPU_DOT_PRODUCT_TASK
#define BIOGPU_DOT_PRODUCT_TASK
namespace biogpu::ops {
// Queries [first, end) of one head of one batch row.
struct DotProductTask {
  std::int64_t b, head, first, end;
};
}  // namespace biogpu::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// The score of a key that is not there, finite so that differences of two stay numbers, and what
// counts as minus infinity.
constexpr float kNoKey = -1e30f, kLeastScore = -1e29f;

HWY_INLINE Head dot_head(const Tensor& x, std::int64_t b, std::int64_t head, std::int64_t n) {
  return {x.row<float>(b) + head * x.stride[2], x.stride[1], n, x.shape[3]};
}

// The bias of one head of one batch row: element (i, j) lies at i * row + j * column.
struct HeadBias {
  const float* data;
  std::int64_t row, column, block;
};

HWY_INLINE HeadBias head_bias(const DotProductAttention& op, const DotProductTask& at) {
  const Tensor& bias = op.bias;
  if (bias.empty()) return {};
  const auto step = [&](std::size_t axis) { return bias.shape[axis] > 1 ? bias.stride[axis] : 0; };
  return {bias.as<float>() + at.b % bias.shape[0] * step(0) + at.head * step(1), step(2), step(3),
          op.bias_block};
}

HWY_INLINE Vec limited(Vec x) {
  const F32 f32;
  return hn::IfThenElse(hn::Lt(x, hn::Set(f32, kLeastScore)), hn::Set(f32, kNoKey), x);
}

// Blocks of keys whose numbers are read at a time.
constexpr std::int64_t kBiasColumns = 4;

// panel[c * pitch + i] = the bias of query i for block j + c of keys, for n_columns blocks; rows:
// where the numbers of each query begin.
HWY_INLINE void read_bias(const HeadBias& bias, const std::int64_t* rows, std::int64_t n_rows,
                          std::int64_t j, std::int64_t n_columns, std::int64_t pitch,
                          float* panel) {
  const float* const from = bias.data + j * bias.column;
  std::int64_t i = 0;
  if (bias.column == 1 && n_columns == kBiasColumns)
    for (; i + 4 <= n_rows; i += 4) {
      float* const to = panel + i;
      transpose_4x4({from + rows[i], from + rows[i + 1], from + rows[i + 2], from + rows[i + 3]},
                    1.0f, {to, to + pitch, to + 2 * pitch, to + 3 * pitch});
    }
  for (; i < n_rows; ++i)
    for (std::int64_t c = 0; c < n_columns; ++c)
      panel[c * pitch + i] = from[rows[i] + c * bias.column];
}

// scores[j * pitch + i] += bias of query row + i and key j, for keys [0, n).
template <int kVectors>
void add_head_bias(const HeadBias& bias, std::int64_t row, std::int64_t n_rows, std::int64_t n,
                   float* scores) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes();
  HWY_ALIGN float panel[kBiasColumns * kMaxQueries] = {};
  std::int64_t rows[kMaxQueries];
  for (std::int64_t i = 0; i < n_rows; ++i) rows[i] = (row + i) / bias.block * bias.row;
  const std::int64_t n_blocks = (n + bias.block - 1) / bias.block;
  for (std::int64_t j = 0; j < n_blocks; j += kBiasColumns) {
    const std::int64_t n_columns = std::min(kBiasColumns, n_blocks - j);
    read_bias(bias, rows, n_rows, j, n_columns, pitch, panel);
    for (std::int64_t c = 0; c < n_columns; ++c)
      for (std::int64_t i = 0; i < pitch; i += n_lanes()) {
        const Vec x = limited(hn::Load(f32, panel + c * pitch + i));
        const std::int64_t end = std::min(n, (j + c + 1) * bias.block);
        for (std::int64_t key = (j + c) * bias.block; key < end; ++key) {
          float* const to = scores + key * pitch + i;
          hn::Store(hn::MulAdd(x, hn::Set(f32, kUnits), hn::Load(f32, to)), f32, to);
        }
      }
  }
}

template <int kVectors>
void mask_dot_keys(const DotProductAttention& op, std::int64_t b, std::int64_t n, float* scores) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes();
  const Tensor& mask = op.key_mask;
  const std::int64_t first = mask.shape[0] > 1 ? b * mask.stride[0] : 0;
  const Vec masked = hn::Mul(limited(hn::Set(f32, op.masked_value)), hn::Set(f32, kUnits));
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t at = first + j * mask.stride[1];
    if (mask.dtype == DType::u8 ? mask.as<std::uint8_t>()[at] != 0 : mask.as<float>()[at] != 0)
      continue;
    for (std::int64_t i = 0; i < pitch; i += n_lanes())
      hn::Store(masked, f32, scores + j * pitch + i);
  }
}

template <int kVectors>
void attend_dot_block(const DotProductAttention& op, const DotProductTask& at, const Head& q,
                      std::int64_t row, std::int64_t n, const HeadScratch& scratch) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes(), size = q.size, value_size = op.v.shape[3];
  const std::int64_t n_rows = std::min(pitch, q.n - row);
  pack_queries(q, row, kUnits * op.scale, pitch, scratch.queries);
  score_block<kVectors>(scratch.keys, padded_head(size), n, size, scratch.queries, scratch.scores);
  if (!op.bias.empty()) add_head_bias<kVectors>(head_bias(op, at), row, n_rows, n, scratch.scores);
  if (op.soft_cap > 0) cap_scores(scratch.scores, n * pitch, kUnits * op.soft_cap);
  if (!op.key_mask.empty()) mask_dot_keys<kVectors>(op, at.b, n, scratch.scores);
  HWY_ALIGN float tops[kMaxQueries], sums[kMaxQueries], inverse[kMaxQueries];
  for (std::int64_t i = 0; i < pitch; i += n_lanes()) {
    Vec top;
    const Vec sum = exponentiate(scratch.scores + i, n, pitch, top);
    const auto none = hn::Lt(top, hn::Set(f32, 2 * kUnits * kLeastScore));
    hn::Store(top, f32, tops + i);
    hn::Store(hn::IfThenZeroElse(none, sum), f32, sums + i);
    hn::Store(hn::IfThenZeroElse(none, hn::Div(hn::Set(f32, 1.0f), sum)), f32, inverse + i);
  }
  if (!op.log_sum_exp.empty()) {
    float* const to = op.log_sum_exp.row<float>(at.b) + at.head * op.log_sum_exp.stride[1] + row;
    for (std::int64_t i = 0; i < n_rows; ++i)
      to[i] = sums[i] == 0 ? -std::numeric_limits<float>::infinity()
                           : tops[i] / kUnits + std::log(sums[i]);
  }
  mix_block<kVectors>(scratch.scores, scratch.values, n, value_size, inverse, scratch.queries);
  unpack_rows(scratch.queries, pitch, n_rows, value_size,
              op.out.row<float>(at.b) + row * op.out.stride[1] + at.head * op.out.stride[2],
              op.out.stride[1]);
}

std::int64_t dot_scratch_size(std::int64_t n, std::int64_t size, std::int64_t value_size) {
  return HeadScratch::size(n, size, value_size);
}

void attend_dot_task(const DotProductAttention& op, const DotProductTask& at, std::int64_t n,
                     float* memory) {
  const std::int64_t key_head = at.head / (op.q.shape[2] / op.k.shape[2]);
  const HeadScratch scratch(memory, n, op.q.shape[3], op.v.shape[3]);
  copy_head(dot_head(op.k, at.b, key_head, n), scratch.keys);
  copy_head(dot_head(op.v, at.b, key_head, n), scratch.values);
  const Head q = dot_head(op.q, at.b, at.head, at.end);
  for (std::int64_t row = at.first; row < at.end; row += 2 * n_lanes()) {
    if (at.end - row > n_lanes()) {
      attend_dot_block<2>(op, at, q, row, n, scratch);
    } else {
      attend_dot_block<1>(op, at, q, row, n, scratch);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {
namespace {

// Queries that see no key.
void write_no_keys(const DotProductAttention& op, const DotProductTask& at) {
  for (std::int64_t i = at.first; i < at.end; ++i) {
    float* const out = op.out.row<float>(at.b) + i * op.out.stride[1] + at.head * op.out.stride[2];
    std::fill(out, out + op.v.shape[3], 0.0f);
    if (!op.log_sum_exp.empty())
      op.log_sum_exp.row<float>(at.b)[at.head * op.log_sum_exp.stride[1] + i] =
          -std::numeric_limits<float>::infinity();
  }
}

}  // namespace

HWY_EXPORT(dot_scratch_size);
HWY_EXPORT(attend_dot_task);

void dot_product_attention_cpu(CpuContext& context, const DotProductAttention& op) {
  // Whole blocks of any vector; copies of keys and values are a few per cent of a task's work.
  constexpr std::int64_t kTaskQueries = 128;
  const std::int64_t n_queries = op.q.shape[1], n_heads = op.q.shape[2];
  const std::int64_t n_parts = (n_queries + kTaskQueries - 1) / kTaskQueries;
  context.for_each(op.q.shape[0] * n_heads * n_parts, [&](std::int64_t i) {
    const std::int64_t b = i / n_parts / n_heads, first = i % n_parts * kTaskQueries;
    const DotProductTask at{b, i / n_parts % n_heads, first,
                            std::min(n_queries, first + kTaskQueries)};
    const std::int64_t n =
        op.key_lengths.empty()
            ? op.k.shape[1]
            : std::min<std::int64_t>(op.key_lengths.as<std::int32_t>()[b], op.k.shape[1]);
    if (n <= 0) return write_no_keys(op, at);
    float* const scratch = context.scratch().reserve(
        HWY_DYNAMIC_DISPATCH(dot_scratch_size)(n, op.q.shape[3], op.v.shape[3]));
    HWY_DYNAMIC_DISPATCH(attend_dot_task)(op, at, n, scratch);
  });
}

}  // namespace biogpu::ops
#endif
