#pragma once

// Device side of lib/ops/cartesian_tensor/tensor_algebra.hpp, and the numbers of one channel of an
// atom in memory.

#include <cstdint>

#include "gpu/ops/row_threads.hpp"

#define BIOGPU_TENSOR_FUNCTION __device__ __forceinline__
#include "lib/ops/cartesian_tensor/tensor_algebra.hpp"

namespace biogpu::gpu::ops {

using Numbers = biogpu::ops::Numbers9<float>;
using Matrix = biogpu::ops::Matrix3<float>;

// Number c is `step` further on; consecutive threads take consecutive channels.
__device__ __forceinline__ Numbers load_numbers(const float* x, std::int64_t at,
                                                std::int64_t step) {
  Numbers numbers;
#pragma unroll
  for (int c = 0; c < 9; ++c) numbers.n[c] = x[at + c * step];
  return numbers;
}
__device__ __forceinline__ void store_numbers(float* x, std::int64_t at, std::int64_t step,
                                              const Numbers& numbers) {
#pragma unroll
  for (int c = 0; c < 9; ++c) x[at + c * step] = numbers.n[c];
}

// The atoms and channels of an array [9, T, F], one thread each.
struct TensorGrid {
  std::int64_t n_atoms;
  int d;
  std::size_t blocks() const { return row_blocks(n_atoms * d); }
  __device__ __forceinline__ std::int64_t step() const { return n_atoms * d; }
};

}  // namespace biogpu::gpu::ops
