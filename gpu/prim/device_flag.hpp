#pragma once

// A counter in device memory by which one wave tells others how far it has written. What the
// writing wave's lanes stored before a wave_sync() and store_release() is seen by all lanes that
// read it after wait_acquire() and a wave_sync(). Called by one lane of a wave.
//
// A wave may wait only for one that is certain to run: for a block that drew an earlier number from
// a counter, never for a block of a higher index.
#include <cstdint>

#include "gpu/prim/wave.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

__device__ __forceinline__ void store_release(std::uint32_t* counter, std::uint32_t value) {
#if defined(BIOGPU_GPU_CUDA)
  __threadfence();
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(counter), "r"(value) : "memory");
#elif defined(BIOGPU_GPU_ROCM)
  __hip_atomic_store(counter, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
#else
  __atomic_store_n(counter, value, __ATOMIC_RELEASE);
#endif
}

// Returns once the counter has reached value.
__device__ __forceinline__ void wait_acquire(const std::uint32_t* counter, std::uint32_t value) {
#if defined(BIOGPU_GPU_CUDA)
  for (;;) {
    std::uint32_t reached;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(reached) : "l"(counter) : "memory");
    if (reached >= value) return;
    __nanosleep(100);
  }
#elif defined(BIOGPU_GPU_ROCM)
  while (__hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < value)
    __builtin_amdgcn_s_sleep(1);
#else
  while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < value) {
  }
#endif
}

// The same for all lanes of a wave together, which read once more where they need not wait: what
// the counter has reached, at least. All of them see what was written.
template <int kWave>
__device__ __forceinline__ std::uint32_t wave_wait_acquire(const std::uint32_t* counter,
                                                           std::uint32_t value) {
  std::uint32_t reached;
#if defined(BIOGPU_GPU_CUDA)
  // A vote, because lanes that leave a loop one by one are not taken to be together again.
  for (;;) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(reached) : "l"(counter) : "memory");
    if (wave_ballot<kWave>(reached < value) == 0) break;
    __nanosleep(100);
  }
#else
  wait_acquire(counter, value);
  reached = value;
#endif
  return reached;
}

}  // namespace biogpu::gpu
