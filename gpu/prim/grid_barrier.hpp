#pragma once

// A barrier of all blocks of a grid. All of them have to be on the device at once: launch no more
// than one block a multiprocessor, on a device that nothing else keeps busy for long. The emulated
// platform runs blocks one after another and has none.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

#if defined(BIOGPU_GPU_EMULATED)
inline constexpr bool kHasGridBarrier = false;
#else
inline constexpr bool kHasGridBarrier = true;
#endif

// In device memory, zeroed once; fit for any number of barriers and launches after that.
struct GridBarrier {
  std::uint32_t n_arrived;
  std::uint32_t generation;
};

// What any thread wrote before is seen by all threads after. All threads of all blocks call it.
__device__ __forceinline__ void grid_barrier(GridBarrier* barrier) {
  if constexpr (!kHasGridBarrier) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    volatile std::uint32_t* const generation = &barrier->generation;
    const std::uint32_t before = *generation;
    __threadfence();
    if (atomicAdd(&barrier->n_arrived, 1u) == gridDim.x - 1) {
      barrier->n_arrived = 0;
      __threadfence();
      *generation = before + 1;
    } else {
      while (*generation == before) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

}  // namespace biogpu::gpu
