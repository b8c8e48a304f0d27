#pragma once

// Copies of whole stretches from device memory to shared memory by the copy engine: one lane asks
// for them, and all threads learn of their arrival. NVIDIA from compute capability 9.0 on, and the
// emulated platform, where copies arrive late; nothing elsewhere. Addresses and sizes are multiples
// of 16.

#include <cstdint>
#include <cstring>

#include "gpu/rt/hip.hpp"
#if defined(BIOGPU_GPU_EMULATED)
#include "gpu/prim/warpgroup_emulated.hpp"
#endif

namespace biogpu::gpu {

// What has been asked for and has not arrived; lies in shared memory.
using Arrival = std::uint64_t;

#if defined(BIOGPU_GPU_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BIOGPU_HAS_COPY_ENGINE 1
#endif

// By one thread, before the first copy. init_arrivals_done() of the threads that did and a barrier
// of the block follow, or one of the group, whose other blocks' threads then see them, too.
__device__ __forceinline__ void init_arrival([[maybe_unused]] Arrival* arrival,
                                             [[maybe_unused]] int n_arrives = 0) {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(at), "r"(1 + n_arrives)
               : "memory");
#elif defined(BIOGPU_GPU_EMULATED)
  barrier_init(arrival, 1 + n_arrives);
#endif
}
__device__ __forceinline__ void init_arrivals_done() {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// The next use of the place gets so many bytes. By one thread, once for each use.
__device__ __forceinline__ void expect_arrival([[maybe_unused]] Arrival* arrival,
                                               [[maybe_unused]] std::uint32_t bytes) {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(at), "r"(bytes)
               : "memory");
#elif defined(BIOGPU_GPU_EMULATED)
  barrier_expect(arrival, static_cast<int>(bytes));
#endif
}

// What the thread has written into the place itself is there, too: n_arrives times for each use.
__device__ __forceinline__ void arrive([[maybe_unused]] Arrival* arrival) {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival));
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(at) : "memory");
#elif defined(BIOGPU_GPU_EMULATED)
  barrier_arrive(arrival);
#endif
}

// By one thread. The place's last readers must be done; the arrival expects the bytes.
__device__ __forceinline__ void copy_bulk([[maybe_unused]] void* to_shared,
                                          [[maybe_unused]] const void* from,
                                          [[maybe_unused]] std::uint32_t bytes,
                                          [[maybe_unused]] Arrival* arrival) {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(to_shared));
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(to), "l"(from), "r"(bytes), "r"(at)
      : "memory");
#elif defined(BIOGPU_GPU_EMULATED)
  hip_on_host::run_beside([=] {
    std::memcpy(to_shared, from, bytes);
    detail::count_at(arrival, 0, -static_cast<int>(bytes));
  });
#endif
}

// Waits for the copies of the place's n-th use; odd: n % 2.
__device__ __forceinline__ void await_arrival([[maybe_unused]] Arrival* arrival,
                                              [[maybe_unused]] std::uint32_t odd) {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival));
#pragma unroll 1
  for (int tries = 0; tries < (1 << 20); ++tries) {
    std::uint32_t done;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at), "r"(odd)
        : "memory");
    if (done != 0) return;
  }
  __trap();
#elif defined(BIOGPU_GPU_EMULATED)
  barrier_wait(arrival, static_cast<int>(odd));
#endif
}

}  // namespace biogpu::gpu
