#pragma once

// One row of layer_norm.hip by one wave. kGroups groups of 4 kWave columns cover the row; arrays
// that are not of fp32 are of kType, which the compiler knows: asked for each number, it costs more
// than the memory.

#include "gpu/nn/element_access.hpp"
#include "gpu/nn/layer_norm.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::nn {

template <int kGroups>
struct RowValues {
  Float4 group[kGroups];
};

// Whether there are registers for two rows: loads of one are under way while the other is held.
template <int kGroups>
inline constexpr bool kHoldsTwoRows = kGroups <= 10;

__device__ __forceinline__ Words2& words4_at(const Rows& rows, std::int64_t row, int column) {
  return *reinterpret_cast<Words2*>(static_cast<std::uint16_t*>(rows.data) + row * rows.stride +
                                    column);
}
template <Number16 kType>
__device__ __forceinline__ Float4 unpack4(const Words2& words) {
  Float4 x;
#pragma unroll
  for (int i = 0; i < 4; ++i) x.value[i] = number16_of_pair<kType>(words.word[i / 2], i % 2);
  return x;
}

// All loads of a row before anything waits for one of them: the type is asked for once, not
// between them. Zeros past the end.
template <int kWave, int kGroups, Number16 kType>
__device__ __forceinline__ void load_groups(const Rows& from, std::int64_t row, int d,
                                            RowValues<kGroups>& x) {
  const int lane = wave_lane<kWave>();
  if (from.type == Element::f32) {
    const float* const at = static_cast<const float*>(from.data) + row * from.stride;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int column = 4 * (g * kWave + lane);
      x.group[g] = column < d ? *reinterpret_cast<const Float4*>(at + column) : Float4{};
    }
    return;
  }
  const std::uint16_t* const at = static_cast<const std::uint16_t*>(from.data) + row * from.stride;
  Words2 words[kGroups];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = 4 * (g * kWave + lane);
    words[g] = column < d ? *reinterpret_cast<const Words2*>(at + column) : Words2{};
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) x.group[g] = unpack4<kType>(words[g]);
}

template <int kWave, int kGroups, Number16 kType>
__device__ __forceinline__ void add_row(const Rows& from, std::int64_t row, int d,
                                        RowValues<kGroups>& x) {
  if constexpr (kHoldsTwoRows<kGroups>) {
    RowValues<kGroups> y;
    load_groups<kWave, kGroups, kType>(from, row, d, y);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] += y.group[g].value[i];
    }
  } else {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int column = 4 * (g * kWave + wave_lane<kWave>());
      if (column >= d) continue;
      const Float4 y = from.type == Element::f32 ? load_elements4(from, row, column)
                                                 : unpack4<kType>(words4_at(from, row, column));
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] += y.value[i];
    }
  }
}

template <int kWave, int kGroups, Number16 kType, bool kPlain>
__device__ __forceinline__ RowValues<kGroups> load_row(const LayerNormArgs& a, std::int64_t row) {
  if constexpr (kPlain) {
    RowValues<kGroups> x;
    load_groups<kWave, kGroups, kType>(a.x, row, a.d, x);
    return x;
  } else {
    const std::int64_t source = a.ids != nullptr ? a.ids[row] : row;
    const float scale = a.scale != nullptr ? a.scale[row] : 1.0f;
    RowValues<kGroups> x;
    load_groups<kWave, kGroups, kType>(a.x, source, a.d, x);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] *= scale;
    }
    if (a.position_table.data != nullptr)
      add_row<kWave, kGroups, kType>(a.position_table, a.positions[row], a.d, x);
    if (a.add.data != nullptr) add_row<kWave, kGroups, kType>(a.add, row, a.d, x);
    return x;
  }
}

template <int kWave, int kGroups>
__device__ __forceinline__ void normalise_row(const LayerNormArgs& a, RowValues<kGroups>& x) {
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
    const bool inside = column < a.d;
    // With a branch each group's loads wait for the group before.
    if (!kHoldsTwoRows<kGroups> && !inside) continue;
    const Float4 weight = inside ? *reinterpret_cast<const Float4*>(a.weight + column) : Float4{};
    const Float4 bias = inside ? *reinterpret_cast<const Float4*>(a.bias + column) : Float4{};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x.group[g].value[i] = x.group[g].value[i] * factor * weight.value[i] + bias.value[i];
    }
  }
}

template <int kWave, int kGroups, Number16 kType>
__device__ __forceinline__ void store_row(const Rows& to, int d, std::int64_t row,
                                          const RowValues<kGroups>& x) {
  if (to.data == nullptr) return;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = 4 * (g * kWave + wave_lane<kWave>());
    if (column >= d) continue;
    if (to.type == Element::f32) {
      store_elements4(to, row, column, x.group[g]);
    } else {
      const float* const value = x.group[g].value;
      words4_at(to, row, column) = {number16_pair<kType>(value[0], value[1]),
                                    number16_pair<kType>(value[2], value[3])};
    }
  }
}

// kPlain: of rows of x as they are.
template <int kWave, int kGroups, Number16 kType, bool kPlain>
__device__ __forceinline__ void layer_norm_row(const LayerNormArgs& a, std::int64_t row) {
  RowValues<kGroups> x = load_row<kWave, kGroups, kType, kPlain>(a, row);
  store_row<kWave, kGroups, kType>(a.sum, a.d, row, x);
  if (a.weight == nullptr) return;
  normalise_row<kWave, kGroups>(a, x);
  store_row<kWave, kGroups, kType>(a.out, a.d, row, x);
  store_row<kWave, kGroups, kType>(a.out_operand, a.d, row, x);
}

}  // namespace biogpu::gpu::nn
