#pragma once

// Device side of outputs.hpp: kWidth (2 or 4) neighbours of a row at a time. Rows of any length
// and place; those whose distance and address suit are read and written at once.

#include "gpu/ops/activation.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/outputs.hpp"

namespace biogpu::gpu::ops {

// Whether kWidth neighbours from a multiple of kWidth on can be read and written at once.
template <int kWidth>
__device__ __forceinline__ bool in_groups(const Rows& rows) {
  const std::uintptr_t bytes = rows.type == Element::f32 ? 4 : 2;
  return rows.stride % kWidth == 0 &&
         reinterpret_cast<std::uintptr_t>(rows.data) % (kWidth * bytes) == 0;
}

template <int kWidth>
struct alignas(4 * kWidth) NeighbourFloats {
  float value[kWidth];
};
template <int kWidth>
struct alignas(2 * kWidth) NeighbourWords {
  std::uint32_t word[kWidth / 2];
};

// Columns [c, c + kWidth) of n; zeros behind the last.
template <int kWidth>
__device__ __forceinline__ void load_neighbours(const Rows& rows, std::int64_t row, int c, int n,
                                                float* y) {
  if (c + kWidth > n || !in_groups<kWidth>(rows)) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) y[i] = c + i < n ? load_element(rows, row, c + i) : 0.0f;
    return;
  }
  const std::int64_t at = row * rows.stride + c;
  if (rows.type == Element::f32) {
    const auto x = *reinterpret_cast<const NeighbourFloats<kWidth>*>(
        static_cast<const float*>(rows.data) + at);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) y[i] = x.value[i];
    return;
  }
  const auto x = *reinterpret_cast<const NeighbourWords<kWidth>*>(
      static_cast<const std::uint16_t*>(rows.data) + at);
  unpack_elements<kWidth>(rows.type, x.word, y);
}

template <int kWidth>
__device__ __forceinline__ void store_neighbours(const Rows& rows, std::int64_t row, int c, int n,
                                                 const float* y) {
  if (c + kWidth > n || !in_groups<kWidth>(rows)) {
    for (int i = 0; i < kWidth && c + i < n; ++i) store_element(rows, row, c + i, y[i]);
    return;
  }
  const std::int64_t at = row * rows.stride + c;
  if (rows.type == Element::f32) {
    NeighbourFloats<kWidth> x;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) x.value[i] = y[i];
    *reinterpret_cast<NeighbourFloats<kWidth>*>(static_cast<float*>(rows.data) + at) = x;
    return;
  }
  NeighbourWords<kWidth> x;
  pack_elements<kWidth>(rows.type, y, x.word);
  *reinterpret_cast<NeighbourWords<kWidth>*>(static_cast<std::uint16_t*>(rows.data) + at) = x;
}

template <int kWidth>
__device__ __forceinline__ void store_outputs(const Outputs& to, std::int64_t row, int c,
                                              const float* y) {
  if (to.out.data != nullptr) store_neighbours<kWidth>(to.out, row, c, to.n, y);
  const ActivatedRows& next = to.activated;
  if (next.out.data == nullptr) return;
  float z[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const int channel = c + i < to.n ? c + i : 0;
    const float scale = next.scale != nullptr ? next.scale[channel] : 1.0f;
    const float shift = next.shift != nullptr ? next.shift[channel] : 0.0f;
    z[i] = activate(next.activation, y[i] * scale + shift);
  }
  store_neighbours<kWidth>(next.out, row, c, to.n, z);
}

}  // namespace biogpu::gpu::ops
