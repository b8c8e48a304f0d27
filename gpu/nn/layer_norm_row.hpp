#pragma once

// One row of layer_norm.hip by one wave. kGroups groups of 4 kWave columns cover the row.

#include "gpu/nn/element_access.hpp"
#include "gpu/nn/layer_norm.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::nn {

template <int kWave, int kGroups>
struct RowValues {
  Float4 group[kGroups];
};

template <int kWave, int kGroups>
__device__ __forceinline__ RowValues<kWave, kGroups> load_row(const LayerNormArgs& a,
                                                              std::int64_t row) {
  const int lane = wave_lane<kWave>();
  const std::int64_t source = a.ids != nullptr ? a.ids[row] : row;
  const float scale = a.scale != nullptr ? a.scale[row] : 1.0f;
  RowValues<kWave, kGroups> x;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = 4 * (g * kWave + lane);
    if (column < a.d) {
      x.group[g] = load_elements4(a.x, source, column);
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] *= scale;
      if (a.position_table.data != nullptr) {
        const Float4 p = load_elements4(a.position_table, a.positions[row], column);
#pragma unroll
        for (int i = 0; i < 4; ++i) x.group[g].value[i] += p.value[i];
      }
      if (a.add.data != nullptr) {
        const Float4 y = load_elements4(a.add, row, column);
#pragma unroll
        for (int i = 0; i < 4; ++i) x.group[g].value[i] += y.value[i];
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] = 0;
    }
  }
  return x;
}

template <int kWave, int kGroups>
__device__ __forceinline__ void normalise_row(const LayerNormArgs& a,
                                              RowValues<kWave, kGroups>& x) {
  const int lane = wave_lane<kWave>();
  float sum = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += x.group[g].value[i];
  }
  const float mean = wave_sum<kWave>(sum) / static_cast<float>(a.d);
  float squares = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    if (4 * (g * kWave + lane) < a.d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x.group[g].value[i] -= mean;
        squares += x.group[g].value[i] * x.group[g].value[i];
      }
    }
  }
  const float variance = wave_sum<kWave>(squares) / static_cast<float>(a.d);
  const float factor = 1.0f / sqrtf(variance + a.eps);
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = 4 * (g * kWave + lane);
    if (column < a.d) {
      const Float4 weight = *reinterpret_cast<const Float4*>(a.weight + column);
      const Float4 bias = *reinterpret_cast<const Float4*>(a.bias + column);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x.group[g].value[i] = x.group[g].value[i] * factor * weight.value[i] + bias.value[i];
      }
    }
  }
}

template <int kWave, int kGroups>
__device__ __forceinline__ void store_row(const Rows& to, int d, std::int64_t row,
                                          const RowValues<kWave, kGroups>& x) {
  if (to.data == nullptr) return;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = 4 * (g * kWave + wave_lane<kWave>());
    if (column < d) store_elements4(to, row, column, x.group[g]);
  }
}

template <int kWave, int kGroups>
__device__ __forceinline__ void layer_norm_row(const LayerNormArgs& a, std::int64_t row) {
  RowValues<kWave, kGroups> x = load_row<kWave, kGroups>(a, row);
  store_row<kWave, kGroups>(a.sum, a.d, row, x);
  if (a.weight == nullptr) return;
  normalise_row<kWave, kGroups>(a, x);
  store_row<kWave, kGroups>(a.out, a.d, row, x);
  store_row<kWave, kGroups>(a.out_operand, a.d, row, x);
}

}  // namespace biogpu::gpu::nn
