#pragma once

// Two signed 16-bit numbers in one 32-bit register and what is done to both halves at once. Single
// instructions on NVIDIA from sm_90 (DPX) and on AMD from gfx90a (v_pk_*); CUDA's own software forms on
// older NVIDIA devices; plain C++ on the emulated platform, which is the definition of the others.
// Sums wrap: callers keep their numbers inside 16 bits.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// .x is the low half.
struct Packed16 {
  std::uint32_t bits;
};

__device__ __forceinline__ Packed16 packed16(int low, int high) {
  return {(static_cast<std::uint32_t>(low) & 0xffffu) | (static_cast<std::uint32_t>(high) << 16)};
}
__device__ __forceinline__ int packed16_low(Packed16 a) {
  return static_cast<std::int16_t>(a.bits & 0xffffu);
}
__device__ __forceinline__ int packed16_high(Packed16 a) {
  return static_cast<std::int16_t>(a.bits >> 16);
}

#if defined(BIOGPU_GPU_ROCM)
namespace detail {
using Short2 = short __attribute__((ext_vector_type(2)));
__device__ __forceinline__ Short2 short2_of(Packed16 a) {
  return __builtin_bit_cast(Short2, a.bits);
}
__device__ __forceinline__ Packed16 packed_of(Short2 a) {
  return {__builtin_bit_cast(std::uint32_t, a)};
}
}  // namespace detail
#endif

// a + b
__device__ __forceinline__ Packed16 packed16_add(Packed16 a, Packed16 b) {
#if defined(BIOGPU_GPU_CUDA)
  return {__vadd2(a.bits, b.bits)};
#elif defined(BIOGPU_GPU_ROCM)
  return detail::packed_of(detail::short2_of(a) + detail::short2_of(b));
#else
  return packed16(packed16_low(a) + packed16_low(b), packed16_high(a) + packed16_high(b));
#endif
}

// max(a, b)
__device__ __forceinline__ Packed16 packed16_max(Packed16 a, Packed16 b) {
#if defined(BIOGPU_GPU_CUDA)
  return {__vmaxs2(a.bits, b.bits)};
#elif defined(BIOGPU_GPU_ROCM)
  return detail::packed_of(
      __builtin_elementwise_max(detail::short2_of(a), detail::short2_of(b)));
#else
  const int low = packed16_low(a) > packed16_low(b) ? packed16_low(a) : packed16_low(b);
  const int high = packed16_high(a) > packed16_high(b) ? packed16_high(a) : packed16_high(b);
  return packed16(low, high);
#endif
}

// max(a, b, c)
__device__ __forceinline__ Packed16 packed16_max3(Packed16 a, Packed16 b, Packed16 c) {
#if defined(BIOGPU_GPU_CUDA)
  return {__vimax3_s16x2(a.bits, b.bits, c.bits)};
#else
  return packed16_max(packed16_max(a, b), c);
#endif
}

// max(a + b, c)
__device__ __forceinline__ Packed16 packed16_add_max(Packed16 a, Packed16 b, Packed16 c) {
#if defined(BIOGPU_GPU_CUDA)
  return {__viaddmax_s16x2(a.bits, b.bits, c.bits)};
#else
  return packed16_max(packed16_add(a, b), c);
#endif
}

// max(a + b, c, 0)
__device__ __forceinline__ Packed16 packed16_add_max_relu(Packed16 a, Packed16 b, Packed16 c) {
#if defined(BIOGPU_GPU_CUDA)
  return {__viaddmax_s16x2_relu(a.bits, b.bits, c.bits)};
#else
  return packed16_max(packed16_add_max(a, b, c), Packed16{0});
#endif
}

}  // namespace biogpu::gpu
