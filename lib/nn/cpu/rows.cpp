// Operations on rows: embedding, normalisation, rotation, pooling.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/nn/cpu/rows.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lib/nn/cpu/kernels.hpp"
#include "lib/nn/cpu/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::nn {
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

// The row may be the memory of a target: every target is written after the row was read.
HWY_INLINE void normalise(const float* x, std::int64_t d, const Norm& norm, float* out,
                          float* out_operand) {
  const F32 f32;
  Vec total = hn::Zero(f32);
  for_vectors(d, [&](std::int64_t i, std::size_t n)
                     HWY_ATTR { total = hn::Add(total, load_first(x + i, n)); });
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
    const Vec y = hn::MulAdd(off, load_first(weight + i, n), load_first(bias + i, n));
    if (out != nullptr) store_first(y, n, out + i);
    if (out_operand != nullptr) store_first(y, n, out_operand + i);
  });
}

float* row_or_null(const Tensor& tensor, std::int64_t row) {
  return tensor.empty() ? nullptr : tensor.row<float>(row);
}

void embed(const Embed& op, const Batch& batch, std::int64_t begin, std::int64_t end) {
  const F32 f32;
  const std::int64_t d = op.table.shape[1];
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const word = op.table.row<float>(batch.ids.as<std::int32_t>()[t]);
    const Vec scale = hn::Set(f32, batch.scale.empty() ? 1.0f : batch.scale.as<float>()[t]);
    const float* const position =
        op.position_table.empty()
            ? nullptr
            : op.position_table.row<float>(batch.positions.as<std::int32_t>()[t]);
    float* const out = row_or_null(op.out, t);
    float* const out_operand = row_or_null(op.out_operand, t);
    float* const sum = op.sum.empty() ? (out != nullptr ? out : out_operand) : op.sum.row<float>(t);
    for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
      Vec x = hn::Mul(load_first(word + i, n), scale);
      if (position != nullptr) x = hn::Add(x, load_first(position + i, n));
      store_first(x, n, sum + i);
    });
    if (!op.norm.weight.empty()) normalise(sum, d, op.norm, out, out_operand);
  }
}

void add_layer_norm(const AddLayerNorm& op, std::int64_t begin, std::int64_t end) {
  const std::int64_t d = op.x.shape[1];
  for (std::int64_t r = begin; r < end; ++r) {
    const float* x = op.x.row<float>(r);
    float* const out = row_or_null(op.out, r);
    float* const out_operand = row_or_null(op.out_operand, r);
    if (!op.add.empty() || !op.sum.empty()) {
      float* const sum =
          op.sum.empty() ? (out != nullptr ? out : out_operand) : op.sum.row<float>(r);
      const float* const add = op.add.empty() ? nullptr : op.add.row<float>(r);
      for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
        Vec y = load_first(x + i, n);
        if (add != nullptr) y = hn::Add(y, load_first(add + i, n));
        store_first(y, n, sum + i);
      });
      x = sum;
    }
    normalise(x, d, op.norm, out, out_operand);
  }
}

void rotate(const QkvRotary& op, const Batch& batch, std::int64_t begin, std::int64_t end) {
  const std::int64_t half = op.rotary.cos_sin.shape[1] / 2;
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const cosines =
        op.rotary.cos_sin.row<float>(batch.positions.as<std::int32_t>()[t]);
    const float* const sines = cosines + half;
    for (std::int64_t head = 0; head < 2 * op.n_heads; ++head) {
      float* const x = op.qkv.row<float>(t) + head * 2 * half;
      for_vectors(half, [&](std::int64_t i, std::size_t n) HWY_ATTR {
        const Vec a = load_first(x + i, n);
        const Vec b = load_first(x + half + i, n);
        const Vec c = load_first(cosines + i, n);
        const Vec s = load_first(sines + i, n);
        store_first(hn::NegMulAdd(b, s, hn::Mul(a, c)), n, x + i);
        store_first(hn::MulAdd(a, s, hn::Mul(b, c)), n, x + half + i);
      });
    }
  }
}

void mean_pool(const Tensor& out, const Tensor& x, const Batch& batch, std::int64_t s) {
  const F32 f32;
  const auto at = static_cast<std::size_t>(s);
  const std::int64_t first = batch.starts[at] + 1, last = batch.starts[at + 1] - 1;
  const float share = last > first ? 1.0f / static_cast<float>(last - first) : 0.0f;
  for_vectors(out.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    Vec sum = hn::Zero(f32);
    for (std::int64_t t = first; t < last; ++t)
      sum = hn::Add(sum, load_first(x.row<float>(t) + i, n));
    store_first(hn::Mul(sum, hn::Set(f32, share)), n, out.row<float>(s) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::nn::cpu {

HWY_EXPORT(embed);
HWY_EXPORT(add_layer_norm);
HWY_EXPORT(rotate);
HWY_EXPORT(mean_pool);

void embed_rows(const Embed& op, const Batch& batch, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(embed)(op, batch, begin, end);
}
void add_layer_norm_rows(const AddLayerNorm& op, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(add_layer_norm)(op, begin, end);
}
void rotate_rows(const QkvRotary& op, const Batch& batch, std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(rotate)(op, batch, begin, end);
}
void mean_pool_row(const Tensor& out, const Tensor& x, const Batch& batch, std::int64_t s) {
  HWY_DYNAMIC_DISPATCH(mean_pool)(out, x, batch, s);
}

}  // namespace biogpu::nn::cpu
#endif
