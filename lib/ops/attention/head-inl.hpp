// Rows of one head of attention, and how they are laid out for its products; for re-inclusion once
// per target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_HEAD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_HEAD_INL_HPP
#undef BIOGPU_OPS_HEAD_INL_HPP
#else
#define BIOGPU_OPS_HEAD_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lib/ops/cpu/tile-inl.hpp"
#include "lib/ops/declare.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

constexpr std::int64_t kRowsAhead = 16;

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

// Rows of a head lie pages apart, where the processor's own prefetch does not follow.
HWY_INLINE void prefetch_row(const Head& x, std::int64_t row) {
  const float* const from = x.data + std::min(row, x.n - 1) * x.stride;
  for (std::int64_t e = 0; e < x.size; e += static_cast<std::int64_t>(kFloatsOfLine))
    hwy::Prefetch(from + e);
  hwy::Prefetch(from + x.size - 1);
}

// Numbers of a copied head: a head of any size is filled up with zeros, which add nothing to a
// score, and the sums of their values are not read.
HWY_INLINE std::int64_t padded_head(std::int64_t size) {
  constexpr std::int64_t kGroup = 8;
  return (size + kGroup - 1) / kGroup * kGroup;
}

// Rows one after the other, padded_head() apart, stay in the nearest caches.
HWY_INLINE void copy_head(const Head& x, float* to) {
  const hn::CappedTag<float, 8> part;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(part));
  const std::int64_t pitch = padded_head(x.size);
  for (std::int64_t j = 0; j < x.n; ++j, to += pitch) {
    prefetch_row(x, j + kRowsAhead);
    const float* const from = x.data + j * x.stride;
    std::int64_t e = 0;
    for (; e + lanes <= x.size; e += lanes) hn::StoreU(hn::LoadU(part, from + e), part, to + e);
    for (; e < pitch; ++e) to[e] = e < x.size ? from[e] : 0.0f;
  }
}

// to[i][j] = from[j][i] * factor
HWY_INLINE void transpose_4x4(const float* const (&from)[4], float factor, float* const (&to)[4]) {
  const hn::Full128<float> four;
  const auto a = hn::LoadU(four, from[0]), b = hn::LoadU(four, from[1]);
  const auto c = hn::LoadU(four, from[2]), d = hn::LoadU(four, from[3]);
  const auto ac = hn::InterleaveLower(four, a, c), bd = hn::InterleaveLower(four, b, d);
  const auto ac_upper = hn::InterleaveUpper(four, a, c), bd_upper = hn::InterleaveUpper(four, b, d);
  const auto scale = hn::Set(four, factor);
  hn::StoreU(hn::Mul(hn::InterleaveLower(four, ac, bd), scale), four, to[0]);
  hn::StoreU(hn::Mul(hn::InterleaveUpper(four, ac, bd), scale), four, to[1]);
  hn::StoreU(hn::Mul(hn::InterleaveLower(four, ac_upper, bd_upper), scale), four, to[2]);
  hn::StoreU(hn::Mul(hn::InterleaveUpper(four, ac_upper, bd_upper), scale), four, to[3]);
}

// panel[e * pitch + i] = scale * query row + i. Past the last query, that one again: all lanes hold
// numbers that belong to a score.
HWY_INLINE void pack_queries(const Head& q, std::int64_t row, float scale, std::int64_t pitch,
                             float* panel) {
  for (std::int64_t i = 0; i < pitch; ++i) prefetch_row(q, row + pitch + i);
  for (std::int64_t i = 0; i < pitch; i += 4) {
    std::int64_t e = 0;
    const auto from = [&](std::int64_t r) {
      return q.data + std::min(row + i + r, q.n - 1) * q.stride + e;
    };
    for (; e + 4 <= q.size; e += 4) {
      float* const to = panel + e * pitch + i;
      transpose_4x4({from(0), from(1), from(2), from(3)}, scale,
                    {to, to + pitch, to + 2 * pitch, to + 3 * pitch});
    }
    for (; e < q.size; ++e)
      for (std::int64_t r = 0; r < 4; ++r) panel[e * pitch + i + r] = *from(r) * scale;
  }
}

// Rows [0, n_rows) of out from panel[e * pitch + row].
HWY_INLINE void unpack_rows(const float* panel, std::int64_t pitch, std::int64_t n_rows,
                            std::int64_t size, float* out, std::int64_t stride) {
  float beyond[4];  // rows past the last one
  for (std::int64_t i = 0; i < n_rows; i += 4) {
    std::int64_t e = 0;
    const auto to = [&](std::int64_t r) {
      return i + r < n_rows ? out + (i + r) * stride + e : beyond;
    };
    for (; e + 4 <= size; e += 4) {
      const float* const from = panel + e * pitch + i;
      transpose_4x4({from, from + pitch, from + 2 * pitch, from + 3 * pitch}, 1.0f,
                    {to(0), to(1), to(2), to(3)});
    }
    for (; e < size; ++e)  // the next head's numbers follow
      for (std::int64_t r = 0; r < 4; ++r) *to(r) = panel[e * pitch + i + r];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
