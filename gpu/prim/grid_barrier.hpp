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

namespace detail {
// Adds to a counter; what this thread has seen is seen by whoever reads the sum with load_acquire.
__device__ __forceinline__ std::uint32_t add_release(std::uint32_t* counter, std::uint32_t value) {
#if defined(BIOGPU_GPU_CUDA)
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(value)
               : "memory");
  return before;
#else
  __threadfence();
  const std::uint32_t before = atomicAdd(counter, value);
  __threadfence();
  return before;
#endif
}

__device__ __forceinline__ std::uint32_t load_acquire(const std::uint32_t* counter) {
#if defined(BIOGPU_GPU_CUDA)
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
#else
  const std::uint32_t value = *static_cast<const volatile std::uint32_t*>(counter);
  __threadfence();
  return value;
#endif
}
}  // namespace detail

// What any thread wrote before is seen by all threads after. All threads of all blocks call it.
__device__ __forceinline__ void grid_barrier(GridBarrier* barrier) {
  if constexpr (!kHasGridBarrier) return;
  __syncthreads();
  if (threadIdx.x == 0) {
    const std::uint32_t before = detail::load_acquire(&barrier->generation);
    if (detail::add_release(&barrier->n_arrived, 1) == gridDim.x - 1) {
      barrier->n_arrived = 0;
      detail::add_release(&barrier->generation, 1);
    } else {
      while (detail::load_acquire(&barrier->generation) == before) {
      }
    }
  }
  __syncthreads();
}

}  // namespace biogpu::gpu
