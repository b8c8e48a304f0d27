#pragma once

// Loads and stores of 8 or 16 bytes that nobody reads again soon: the caches give them up first.
// T: a plain struct of that size, at an address of that alignment. Plain ones but for NVIDIA.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

template <class T>
__device__ __forceinline__ T load_streaming(const T* from) {
  static_assert((sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T));
#if defined(BIOGPU_GPU_CUDA)
  T value;
  auto* const word = reinterpret_cast<std::uint32_t*>(&value);
  if constexpr (sizeof(T) == 16) {
    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "l"(from));
  } else {
    asm volatile("ld.global.cs.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(from));
  }
  return value;
#else
  return *from;
#endif
}

template <class T>
__device__ __forceinline__ void store_streaming(T* to, const T& value) {
  static_assert((sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T));
#if defined(BIOGPU_GPU_CUDA)
  const auto* const word = reinterpret_cast<const std::uint32_t*>(&value);
  if constexpr (sizeof(T) == 16) {
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word[0]),
                 "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
  } else {
    asm volatile("st.global.cs.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(word[0]), "r"(word[1])
                 : "memory");
  }
#else
  *to = value;
#endif
}

}  // namespace biogpu::gpu
