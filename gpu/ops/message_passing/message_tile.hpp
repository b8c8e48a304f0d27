#pragma once

// What the kernels of messages between atoms share: kVector neighbouring channels per thread.

#include <cstdint>

#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {

template <int kVector>
struct alignas(4 * kVector) Channels {
  float value[kVector] = {};
};

template <int kVector>
__device__ __forceinline__ Channels<kVector> load_channels(const float* from) {
  return *reinterpret_cast<const Channels<kVector>*>(from);
}
template <int kVector>
__device__ __forceinline__ void store_channels(float* to, const Channels<kVector>& x) {
  *reinterpret_cast<Channels<kVector>*>(to) = x;
}
// sum += a b
template <int kVector>
__device__ __forceinline__ void add_product(Channels<kVector>& sum, const Channels<kVector>& a,
                                            const Channels<kVector>& b) {
#pragma unroll
  for (int v = 0; v < kVector; ++v) sum.value[v] += a.value[v] * b.value[v];
}

// The part of a number: part_of(), lib/ops/cartesian_tensor/tensor_parts.hpp.
template <int kNumbers>
__device__ __forceinline__ int message_part(int number) {
  if (kNumbers == 1 || number == 0) return 0;
  return number < 4 ? 1 : 2;
}

// Of an atom's edges.
struct EdgeRows {
  const std::int32_t *starts, *neighbours, *reverse;
};

}  // namespace biogpu::gpu::ops
