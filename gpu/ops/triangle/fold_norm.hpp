#pragma once

// A layer norm folded into the map behind it: with s the factor and m the mean of a row x,
// map(norm(x)) = s (w x - m sums) + shifts, where w are the map's weights times the norm's.

#include <cstdint>

#include "gpu/prim/number16.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::ops {

struct FoldedNorm {
  int c = 0;                           // rows and columns of the map
  const std::uint16_t* map = nullptr;  // [c, c]
  const float* map_bias = nullptr;     // [c], or nullptr
  const float* weight = nullptr;       // of the norm
  const float* bias = nullptr;
  std::uint16_t* folded = nullptr;  // [c, c]: w
  float* sums = nullptr;            // [c], of w's rows as they are rounded
  float* shifts = nullptr;          // [c]
};

// Called by one wave.
template <Number16 kType>
__device__ __forceinline__ void fold_norm_row(const FoldedNorm& a, int row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = 0, shift = 0;
  for (int i = lane; i < a.c; i += 32) {
    const float weight = number16_value<kType>(a.map[row * a.c + i]);
    const std::uint16_t scaled = number16<kType>(weight * a.weight[i]);
    a.folded[row * a.c + i] = scaled;
    sum += number16_value<kType>(scaled);
    shift += weight * a.bias[i];
  }
  sum = wave_sum<32>(sum);
  shift = wave_sum<32>(shift);
  if (lane > 0) return;
  a.sums[row] = sum;
  a.shifts[row] = shift + (a.map_bias == nullptr ? 0.0f : a.map_bias[row]);
}

}  // namespace biogpu::gpu::ops
