#pragma once

// Copies of 16 bytes from device memory to shared memory that run while the block computes:
// cp.async on NVIDIA, a plain load and store elsewhere. Both addresses are multiples of 16.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// Whether copies run beside the computation: what tile sizes depend on.
#if defined(BIOGPU_GPU_CUDA)
inline constexpr bool kHasAsyncCopies = true;
#else
inline constexpr bool kHasAsyncCopies = false;
#endif

struct alignas(16) Bytes16 {
  std::uint32_t word[4];
};

// Copies, or writes zeros where `valid` is false; then `from` is not read but has to be an address.
__device__ __forceinline__ void copy_async16(void* to_shared, const void* from, bool valid) {
#if defined(BIOGPU_GPU_CUDA)
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(to_shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(valid ? 16 : 0)
               : "memory");
#else
  // By words: structures that it chose between would be put into scratch memory on AMD.
  Bytes16 bytes = {};
  if (valid) {
    const Bytes16 read = *static_cast<const Bytes16*>(from);
#pragma unroll
    for (int i = 0; i < 4; ++i) bytes.word[i] = read.word[i];
  }
  *static_cast<Bytes16*>(to_shared) = bytes;
#endif
}

// Closes a group of this thread's copies.
__device__ __forceinline__ void copy_async_commit() {
#if defined(BIOGPU_GPU_CUDA)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most kLeft of this thread's groups are under way; other threads' copies are seen
// after a barrier.
template <int kLeft>
__device__ __forceinline__ void copy_async_wait() {
#if defined(BIOGPU_GPU_CUDA)
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

}  // namespace biogpu::gpu
