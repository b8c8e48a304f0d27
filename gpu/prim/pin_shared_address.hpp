#pragma once

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// The same pointer into shared memory, held in a register. Otherwise nvcc for sm_90 computes the
// address again from a special register wherever it is used, also in the innermost loop, where the
// first load of each round waits for it.
template <class T>
__device__ __forceinline__ T* pin_shared_address(T* pointer) {
#if defined(BIOGPU_GPU_CUDA)
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(pointer));
  asm volatile("" : "+r"(address));
  return static_cast<T*>(__cvta_shared_to_generic(address));
#else
  return pointer;
#endif
}

}  // namespace biogpu::gpu
