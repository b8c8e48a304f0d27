#pragma once

// Threads of TensorNet's kernels: 32 lanes a row, or one an atom and channel.

#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/prim/wave.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::gpu::tensornet {

inline constexpr int kLanes = 32;  // of a row

// In a fixed tree, so that the same bytes come from waves of 32 and of 64.
template <int kWave>
__device__ __forceinline__ float sum_of_lanes(float sum) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2)
    sum += wave_shuffle_xor<kWave>(sum, mask, kLanes);
  return sum;
}

// Of an array [9, T, F].
inline ops::TensorGrid grid_of(const tensor::Tensor& x) {
  return {x.shape[1], static_cast<int>(x.shape[2])};
}

}  // namespace biogpu::gpu::tensornet
