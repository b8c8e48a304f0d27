#pragma once

// Sums of several numbers over 32 or 8 neighbouring lanes at once: where a lane has as many numbers
// as there are sums, each step of the sum halves them, so that n sums take n - 1 exchanges and not
// five each. Which lane ends with which sum follows from its bits. The order of addition is that of
// the lanes' bits from the highest to the lowest, whatever the number of sums.

#include "gpu/ops/element_access.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::molscribe {

using ops::Float4;

inline constexpr int kNoSum = 1 << 20;

// kTop: 16 for all 32 lanes, 4 for each 8 of them.
template <int kWave, int kTop, int kCount>
__device__ __forceinline__ float sum_lanes(const float (&value)[kCount], int lane) {
  if constexpr (kTop == 0) {
    static_assert(kCount == 1, "no more sums than lanes");
    return value[0];
  } else {
    constexpr int kHalf = (kCount + 1) / 2;
    float kept[kHalf];
    if constexpr (kCount == 1) {
      kept[0] = value[0] + wave_shuffle_xor<kWave>(value[0], kTop, 32);
    } else {
      const bool upper = (lane & kTop) != 0;
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
        const float low = value[i], high = i + kHalf < kCount ? value[i + kHalf] : 0.0f;
        kept[i] = (upper ? high : low) + wave_shuffle_xor<kWave>(upper ? low : high, kTop, 32);
      }
    }
    return sum_lanes<kWave, kTop / 2, kHalf>(kept, lane);
  }
}

// Which of the sums this lane has, each of them in one lane; kNoSum or more: none.
template <int kTop, int kCount>
__device__ __forceinline__ int sum_of_lane(int lane) {
  if constexpr (kTop == 0) {
    return 0;
  } else {
    constexpr int kHalf = (kCount + 1) / 2;
    const int inner = sum_of_lane<kTop / 2, kHalf>(lane);
    const bool upper = (lane & kTop) != 0;
    if constexpr (kCount == 1) return upper ? kNoSum : inner;
    const int index = (upper ? kHalf : 0) + inner;
    return inner < kHalf && index < kCount ? index : kNoSum;
  }
}

__device__ __forceinline__ float add_product(float sum, const Float4& a, const Float4& b) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sum = fmaf(a.value[i], b.value[i], sum);
  return sum;
}

}  // namespace biogpu::gpu::molscribe
