// Attention of one head of one sequence: a tile of queries at a time against all keys. The tile's
// scores stay in cache, so that memory grows with the length and not with its square.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/nn/cpu/attention.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lib/nn/cpu/kernels.hpp"
#include "lib/nn/cpu/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::nn {
namespace HWY_NAMESPACE {

constexpr int kMostTileRows = 14;

HWY_INLINE std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

std::int64_t scratch_size(std::int64_t length, std::int64_t head_size) {
  const auto width = static_cast<std::int64_t>(2 * hn::Lanes(F32()));
  const std::int64_t padded = round_up(length, width);
  return padded * head_size + length * round_up(head_size, width) + kMostTileRows * padded;
}

// Tokens [first, first + n) of one head.
struct Head {
  const float* data;
  std::int64_t stride;  // between tokens
  std::int64_t n;
  std::int64_t size;
};

HWY_INLINE Head head_of(const Tensor& x, std::int64_t first, std::int64_t n, std::int64_t head) {
  return {x.row<float>(first) + head * x.stride[1], x.stride[0], n, x.shape[2]};
}

// k^T in panels: for each element of the head, the keys of the panel; zeros past the last key.
void pack_keys(const Head& k, float* panels) {
  const auto width = static_cast<std::int64_t>(2 * hn::Lanes(F32()));
  for (std::int64_t begin = 0; begin < k.n; begin += width)
    for (std::int64_t e = 0; e < k.size; ++e)
      for (std::int64_t j = begin; j < begin + width; ++j)
        *panels++ = j < k.n ? k.data[j * k.stride + e] : 0.0f;
}

// v in panels of one or two vectors of the head's elements.
void pack_values(const Head& v, float* panels) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F32()));
  for (std::int64_t begin = 0; begin < v.size;) {
    const std::int64_t width = v.size - begin > lanes ? 2 * lanes : lanes;
    for (std::int64_t j = 0; j < v.n; ++j)
      for (std::int64_t e = begin; e < begin + width; ++e)
        *panels++ = e < v.size ? v.data[j * v.stride + e] : 0.0f;
    begin += width;
  }
}

// scores[r * pitch + j] = scale * q_r k_j, for all j of whole panels.
void score_tile(const Head& q, std::int64_t row, int n_rows, const float* keys, std::int64_t n_keys,
                float scale, float* scores, std::int64_t pitch) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const Vec factor = hn::Set(f32, scale);
  for (std::int64_t j = 0; j < n_keys; j += 2 * lanes) {
    const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
      float* const to = scores + r * pitch + j;
      hn::Store(hn::Mul(first, factor), f32, to);
      hn::Store(hn::Mul(second, factor), f32, to + lanes);
    };
    tile_of<2>(n_rows, q.data + row * q.stride, q.stride, keys + j * q.size, q.size, store);
  }
}

// scores -> exp(score - top), zeros in the lanes past n; returns the sum and sets top.
HWY_INLINE float exponentiate(float* scores, std::int64_t n, float& top) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const Vec lowest = hn::Set(f32, -3.0e38f);
  const std::int64_t whole = n / lanes * lanes;
  const auto rest = hn::FirstN(f32, static_cast<std::size_t>(n - whole));
  Vec most = lowest;
  for (std::int64_t j = 0; j < whole; j += lanes) most = hn::Max(most, hn::Load(f32, scores + j));
  if (whole < n) most = hn::Max(most, hn::IfThenElse(rest, hn::Load(f32, scores + whole), lowest));
  const Vec all_top = hn::MaxOfLanes(f32, most);
  top = hn::GetLane(all_top);
  Vec sum = hn::Zero(f32);
  for (std::int64_t j = 0; j < whole; j += lanes) {
    const Vec p = exp_of(hn::Sub(hn::Load(f32, scores + j), all_top));
    hn::Store(p, f32, scores + j);
    sum = hn::Add(sum, p);
  }
  if (whole < n) {
    const Vec p = hn::IfThenElseZero(rest, exp_of(hn::Sub(hn::Load(f32, scores + whole), all_top)));
    hn::Store(p, f32, scores + whole);
    sum = hn::Add(sum, p);
  }
  return hn::GetLane(hn::SumOfLanes(f32, sum));
}

HWY_INLINE void store_values(Vec y, float* to, std::int64_t n) {
  const F32 f32;
  if (n >= static_cast<std::int64_t>(hn::Lanes(f32))) {
    hn::StoreU(y, f32, to);
  } else if (n > 0) {
    hn::BlendedStore(y, hn::FirstN(f32, static_cast<std::size_t>(n)), f32, to);
  }
}

// out_r = (sum_j p_rj v_j) * inverse[r]
void mix_tile(const float* p, std::int64_t pitch, int n_rows, const Head& v, const float* values,
              const float* inverse, float* out, std::int64_t out_stride) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  for (std::int64_t e = 0; e < v.size;) {
    const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
      const Vec factor = hn::Set(f32, inverse[r]);
      float* const to = out + r * out_stride + e;
      store_values(hn::Mul(first, factor), to, v.size - e);
      store_values(hn::Mul(second, factor), to + lanes, v.size - e - lanes);
    };
    if (v.size - e > lanes) {
      tile_of<2>(n_rows, p, pitch, values, v.n, store);
      values += 2 * lanes * v.n;
      e += 2 * lanes;
    } else {
      const auto store_one = [&](int r, Vec first, Vec) HWY_ATTR {
        store_values(hn::Mul(first, hn::Set(f32, inverse[r])), out + r * out_stride + e,
                     v.size - e);
      };
      tile_of<1>(n_rows, p, pitch, values, v.n, store_one);
      e += lanes;
    }
  }
}

void add_bias(const Tensor& bias, std::int64_t s, std::int64_t head, std::int64_t row,
              float* scores, std::int64_t n) {
  const float* from = bias.as<float>();
  const std::int64_t index[] = {s, head, row};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (bias.shape[axis] > 1) from += index[axis] * bias.stride[axis];
  const bool one = bias.shape[3] == 1;
  for (std::int64_t j = 0; j < n; ++j) scores[j] += from[one ? 0 : j];
}

void attend_head(const Attention& op, const Batch& batch, std::int64_t s, std::int64_t head,
                 float* scratch) {
  const auto width = static_cast<std::int64_t>(2 * hn::Lanes(F32()));
  const auto at = static_cast<std::size_t>(s);
  const std::int64_t first = batch.starts[at], n = batch.starts[at + 1] - first;
  const Head q = head_of(op.q, first, n, head), k = head_of(op.k, first, n, head),
             v = head_of(op.v, first, n, head);
  const std::int64_t pitch = round_up(n, width);
  float* const keys = scratch;
  float* const scores = keys + pitch * k.size;
  float* const values = scores + kMostTileRows * pitch;
  pack_keys(k, keys);
  pack_values(v, values);
  for (std::int64_t row = 0; row < n; row += kTileRows) {
    const int n_rows = static_cast<int>(std::min<std::int64_t>(kTileRows, n - row));
    score_tile(q, row, n_rows, keys, n, op.scale, scores, pitch);
    float inverse[kMostTileRows];
    for (int r = 0; r < n_rows; ++r) {
      float* const of_row = scores + r * pitch;
      if (!op.bias.empty()) add_bias(op.bias, s, head, row + r, of_row, n);
      float top = 0;
      const float sum = exponentiate(of_row, n, top);
      inverse[r] = 1 / sum;
      if (!op.log_sum_exp.empty())
        op.log_sum_exp.row<float>(head)[first + row + r] = top + std::log(sum);
    }
    mix_tile(scores, pitch, n_rows, v, values, inverse,
             op.out.row<float>(first + row) + head * v.size, op.out.stride[0]);
  }
}

void contact_probabilities(const Contacts& op, const Batch& batch, std::int64_t s,
                           std::int64_t head, float* out, float* scratch) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32)), width = 2 * lanes;
  const auto at = static_cast<std::size_t>(s);
  const std::int64_t first = batch.starts[at] + 1, n = batch.starts[at + 1] - 1 - first;
  const Head q = head_of(op.q, first, n, head), k = head_of(op.k, first, n, head);
  const std::int64_t pitch = round_up(n, width);
  float* const keys = scratch;
  float* const scores = keys + pitch * k.size;
  pack_keys(k, keys);
  for (std::int64_t row = 0; row < n; row += kTileRows) {
    const int n_rows = static_cast<int>(std::min<std::int64_t>(kTileRows, n - row));
    score_tile(q, row, n_rows, keys, n, op.scale, scores, pitch);
    for (int r = 0; r < n_rows; ++r) {
      const Vec log_sum = hn::Set(f32, op.log_sum_exp.row<float>(head)[first + row + r]);
      float* const to = out + (row + r) * n;
      for (std::int64_t j = 0; j < n; j += lanes)
        store_values(exp_of(hn::Sub(hn::Load(f32, scores + r * pitch + j), log_sum)), to + j,
                     n - j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::nn::cpu {

HWY_EXPORT(scratch_size);
HWY_EXPORT(attend_head);
HWY_EXPORT(contact_probabilities);

std::int64_t attention_scratch(std::int64_t length, std::int64_t head_size) {
  return HWY_DYNAMIC_DISPATCH(scratch_size)(length, head_size);
}
void attend(const Attention& op, const Batch& batch, std::int64_t sequence, std::int64_t head,
            float* scratch) {
  HWY_DYNAMIC_DISPATCH(attend_head)(op, batch, sequence, head, scratch);
}
void probabilities(const Contacts& op, const Batch& batch, std::int64_t sequence, std::int64_t head,
                   float* out, float* scratch) {
  HWY_DYNAMIC_DISPATCH(contact_probabilities)(op, batch, sequence, head, out, scratch);
}

}  // namespace biogpu::nn::cpu
#endif
