#pragma once

// Loads and stores that tell the caches what will be read again. T: a plain struct of 8 or 16
// bytes, at an address of that alignment.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// Loads past the first-level cache, for data that this multiprocessor does not read again.
template <class T>
__device__ __forceinline__ T load_no_allocate(const T* from) {
  static_assert((sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T));
#if defined(BIOGPU_GPU_CUDA)
  T value;
  auto* const word = reinterpret_cast<std::uint32_t*>(&value);
  if constexpr (sizeof(T) == 16) {
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "l"(from));
  } else {
    asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
                 : "=r"(word[0]), "=r"(word[1])
                 : "l"(from));
  }
  return value;
#elif defined(BIOGPU_GPU_ROCM)
  using Words = std::uint32_t __attribute__((ext_vector_type(sizeof(T) / 4)));
  const Words words = __builtin_nontemporal_load(reinterpret_cast<const Words*>(from));
  T value;
  __builtin_memcpy(&value, &words, sizeof value);
  return value;
#else
  return *from;
#endif
}

// Streaming accesses: data that is not read again soon, which caches evict first. Plain loads and
// stores on other vendors.
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
