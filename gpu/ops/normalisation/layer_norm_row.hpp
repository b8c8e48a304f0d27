#pragma once

// One row of layer_norm.hip by kLanes threads of a block that lie side by side. kGroups groups of
// 4 kLanes columns cover the row; arrays that are not of fp32 are of kType, which the compiler
// knows: asked for each number, it costs more than the memory. Rows go past the first cache, so
// that weights stay there: in their place each row would fetch them anew.

#include "gpu/ops/element_access.hpp"
#include "gpu/ops/normalisation/layer_norm.hpp"
#include "gpu/prim/cache_hints.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {

template <int kGroups>
struct RowValues {
  Float4 group[kGroups];
};

// Whether there are registers for two rows: loads of one are under way while the other is held.
template <int kGroups>
inline constexpr bool kHoldsTwoRows = kGroups <= 10;

// The first column that this thread has of group g.
template <int kLanes>
__device__ __forceinline__ int column_of(int g) {
  return 4 * (g * kLanes + static_cast<int>(threadIdx.x) % kLanes);
}

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
template <int kLanes, int kGroups>
__device__ __forceinline__ void load_groups_f32(const Rows& from, std::int64_t row, int d,
                                                RowValues<kGroups>& x) {
  const float* const at = static_cast<const float*>(from.data) + row * from.stride;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = column_of<kLanes>(g);
    x.group[g] =
        column < d ? load_no_allocate(reinterpret_cast<const Float4*>(at + column)) : Float4{};
  }
}

template <int kLanes, int kGroups, Number16 kType>
__device__ __forceinline__ void load_groups(const Rows& from, std::int64_t row, int d,
                                            RowValues<kGroups>& x) {
  if (from.type == Element::f32) return load_groups_f32<kLanes>(from, row, d, x);
  const std::uint16_t* const at = static_cast<const std::uint16_t*>(from.data) + row * from.stride;
  Words2 words[kGroups];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = column_of<kLanes>(g);
    words[g] =
        column < d ? load_no_allocate(reinterpret_cast<const Words2*>(at + column)) : Words2{};
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) x.group[g] = unpack4<kType>(words[g]);
}

template <int kLanes, int kGroups, Number16 kType>
__device__ __forceinline__ void add_row(const Rows& from, std::int64_t row, int d,
                                        RowValues<kGroups>& x) {
  if constexpr (kHoldsTwoRows<kGroups>) {
    RowValues<kGroups> y;
    load_groups<kLanes, kGroups, kType>(from, row, d, y);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] += y.group[g].value[i];
    }
  } else {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const int column = column_of<kLanes>(g);
      if (column >= d) continue;
      const Float4 y = from.type == Element::f32 ? load_elements4(from, row, column)
                                                 : unpack4<kType>(words4_at(from, row, column));
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] += y.value[i];
    }
  }
}

template <int kLanes, int kGroups, Number16 kType, bool kPlain>
__device__ __forceinline__ RowValues<kGroups> load_row(const LayerNormArgs& a, std::int64_t row) {
  RowValues<kGroups> x;
  if constexpr (kPlain) {
    load_groups<kLanes, kGroups, kType>(a.x, row, a.d, x);
  } else {
    const std::int64_t source = a.ids != nullptr ? a.ids[row] : row;
    const float scale = a.scale != nullptr ? a.scale[row] : 1.0f;
    load_groups<kLanes, kGroups, kType>(a.x, source, a.d, x);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 4; ++i) x.group[g].value[i] *= scale;
    }
    if (a.position_table.data != nullptr)
      add_row<kLanes, kGroups, kType>(a.position_table, a.positions[row], a.d, x);
    if (a.add.data != nullptr) add_row<kLanes, kGroups, kType>(a.add, row, a.d, x);
  }
  return x;
}

// Makes x what it differs by from its mean, over the root of its variance; of RMS norm the mean is
// 0. sum_row(value, n): the sum over the row's threads, for n = 0, then 1; always both, since a
// barrier of the one protects the other.
template <int kLanes, int kGroups, class SumRow>
__device__ __forceinline__ void standardise_row(int d, float eps, bool centred,
                                                RowValues<kGroups>& x, SumRow&& sum_row) {
  float sum = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += x.group[g].value[i];
  }
  const float total = sum_row(sum, 0);
  const float mean = centred ? total / static_cast<float>(d) : 0.0f;
  float squares = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    if (column_of<kLanes>(g) < d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x.group[g].value[i] -= mean;
        squares += x.group[g].value[i] * x.group[g].value[i];
      }
    }
  }
  const float variance = sum_row(squares, 1) / static_cast<float>(d);
  const float factor = 1.0f / sqrtf(variance + eps);
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) x.group[g].value[i] *= factor;
  }
}

// Weight or bias, zeros past the end.
template <int kLanes, int kGroups>
__device__ __forceinline__ Float4 vector_group(const float* values, int d, int g) {
  const int column = column_of<kLanes>(g);
  return column < d ? *reinterpret_cast<const Float4*>(values + column) : Float4{};
}

template <int kLanes, int kGroups, Number16 kType>
__device__ __forceinline__ void store_row(const Rows& to, int d, std::int64_t row,
                                          const RowValues<kGroups>& x) {
  if (to.data == nullptr) return;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = column_of<kLanes>(g);
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

// By one wave. kPlain: of rows of x as they are.
template <int kWave, int kGroups, Number16 kType, bool kPlain>
__device__ __forceinline__ void layer_norm_row(const LayerNormArgs& a, std::int64_t row) {
  RowValues<kGroups> x = load_row<kWave, kGroups, kType, kPlain>(a, row);
  store_row<kWave, kGroups, kType>(a.sum, a.d, row, x);
  if (a.weight == nullptr) return;
  standardise_row<kWave>(a.d, a.eps, a.centred, x,
                         [](float value, int) { return wave_sum<kWave>(value); });
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    // With a branch each group's loads wait for the group before.
    if (!kHoldsTwoRows<kGroups> && column_of<kWave>(g) >= a.d) continue;
    const Float4 weight = vector_group<kWave, kGroups>(a.weight, a.d, g);
    const Float4 bias = vector_group<kWave, kGroups>(a.bias, a.d, g);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x.group[g].value[i] = x.group[g].value[i] * weight.value[i] + bias.value[i];
    }
  }
  store_row<kWave, kGroups, kType>(a.out, a.d, row, x);
  store_row<kWave, kGroups, kType>(a.out_operand, a.d, row, x);
}

}  // namespace biogpu::gpu::ops
