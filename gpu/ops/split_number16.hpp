#pragma once

// fp32 numbers as sums of two 16-bit ones, x = high + low / kLowScale, for the matrix cores. The
// low parts are scaled to the size of the high ones, for fp16 has fewer digits below 2^-14; so
// products with low parts are summed by themselves.

#include <cstdint>

#include "gpu/prim/number16.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::ops {

inline constexpr float kLowScale = 2048;

// Two numbers.
struct SplitPair {
  std::uint32_t high, low;
};

template <Number16 kType, bool kClamps = true>
__device__ __forceinline__ SplitPair split_pair(float x, float y) {
  SplitPair pair;
  pair.high = number16_pair<kType, kClamps>(x, y);
  pair.low = number16_pair<kType, kClamps>((x - number16_of_pair<kType>(pair.high, 0)) * kLowScale,
                                           (y - number16_of_pair<kType>(pair.high, 1)) * kLowScale);
  return pair;
}

}  // namespace biogpu::gpu::ops
