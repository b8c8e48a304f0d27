#pragma once

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::dualbind {

// The sum of a number of each of kThreads threads, in a fixed tree: the same for waves of 32
// and 64. All threads call it; sums: shared. All get the result.
template <int kThreads>
__device__ __forceinline__ double block_sum(double value, double* sums) {
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();  // the sums of a call before have been read
  sums[thread] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  __syncthreads();
  return sums[0];
}

}  // namespace biogpu::gpu::dualbind
