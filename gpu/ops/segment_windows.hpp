#pragma once

// Which rows of one batch of segments a row of another one reads, where each segment became shorter
// or longer: windows of `taps` rows, `stride` apart.

#include <cstdint>

#include "gpu/rt/hip.hpp"
#include "lib/tensor/ragged.hpp"

namespace biogpu::gpu::ops {

struct SegmentMap {
  const std::int32_t* in = nullptr;   // [n + 1]: Ragged::starts of what is read
  const std::int32_t* out = nullptr;  // [n + 1]: of what is written
  int n = 0;
};

inline SegmentMap map_segments(const tensor::Ragged& in, const tensor::Ragged& out) {
  return {in.device_starts.as<const std::int32_t>(), out.device_starts.as<const std::int32_t>(),
          static_cast<int>(out.n_segments)};
}

// The segment that holds a row; n where it is in none.
__device__ __forceinline__ int segment_of(const std::int32_t* starts, int n, int row) {
  if (row >= starts[n]) return n;
  int low = 0, high = n;  // starts[low] <= row < starts[high]
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (starts[middle] <= row ? low : high) = middle;
  }
  return low;
}

// Rows first + [begin, end): those of the window that lie in the segment.
struct RowWindow {
  int first = 0, begin = 0, end = 0;
};

// `before`: rows of the window before the one that stands for the result.
__device__ __forceinline__ RowWindow window_of(const SegmentMap& map, int row, int taps, int stride,
                                               int before) {
  const int s = segment_of(map.out, map.n, row);
  if (s == map.n) return {};
  const int at = (row - map.out[s]) * stride - before, length = map.in[s + 1] - map.in[s];
  const int end = length - at < taps ? length - at : taps;
  return {map.in[s] + at, at < 0 ? -at : 0, end > 0 ? end : 0};
}

}  // namespace biogpu::gpu::ops
