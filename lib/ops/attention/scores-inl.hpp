// Scores of a block of queries with all keys of a head; for re-inclusion once per target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_SCORES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_SCORES_INL_HPP
#undef BIOGPU_OPS_SCORES_INL_HPP
#else
#define BIOGPU_OPS_SCORES_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "lib/ops/attention/head-inl.hpp"
#include "lib/ops/cpu/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Scores are kept in units of ln 2, as exponents of two.
constexpr float kUnits = 1.44269504f;

// Queries of a block: two vectors at most.
constexpr std::size_t kMaxQueries = 2 * HWY_MAX_BYTES / sizeof(float);

HWY_INLINE std::int64_t n_lanes() { return static_cast<std::int64_t>(hn::Lanes(F32())); }
HWY_INLINE std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// Memory of one head. A block is up to two vectors of queries, `pitch` of them.
struct HeadScratch {
  float* keys;     // [n, padded size]
  float* values;   // [n, padded size of values]
  float* queries;  // [padded size, pitch]; what the block mixed when it is done with them
  float* scores;   // [n, pitch]

  HeadScratch(float* memory, std::int64_t length, std::int64_t head_size, std::int64_t value_size) {
    const std::int64_t pitch = 2 * n_lanes();
    keys = memory;
    values = keys + round_up(length * padded_head(head_size), pitch);
    queries = values + round_up(length * padded_head(value_size), pitch);
    scores = queries + pitch * padded_head(std::max(head_size, value_size));
  }
  static std::int64_t size(std::int64_t length, std::int64_t head_size, std::int64_t value_size) {
    const std::int64_t pitch = 2 * n_lanes();
    return round_up(length * padded_head(head_size), pitch) +
           round_up(length * padded_head(value_size), pitch) +
           pitch * (padded_head(std::max(head_size, value_size)) + length);
  }
};

// scores[j * pitch + i] = key j times query i of the panel; keys: `size` numbers each, `stride`
// apart.
template <int kVectors>
HWY_INLINE void score_block(const float* keys, std::int64_t stride, std::int64_t n,
                            std::int64_t size, const float* panel, float* scores) {
  const F32 f32;
  const std::int64_t pitch = kVectors * n_lanes();
  for (std::int64_t j = 0; j < n; j += kTileRows) {
    const int n_rows = static_cast<int>(std::min<std::int64_t>(kTileRows, n - j));
    const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
      float* const to = scores + (j + r) * pitch;
      hn::Store(first, f32, to);
      if constexpr (kVectors == 2) hn::Store(second, f32, to + pitch / 2);
    };
    tile_of<kVectors>(n_rows, {keys + j * stride, stride, 1}, panel, size, store);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
