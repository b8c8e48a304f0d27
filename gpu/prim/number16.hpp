#pragma once

// The two 16-bit floating point formats that matrix cores multiply, as bits: IEEE half precision
// (11 significant bits, up to 65504) and bfloat16 (8 significant bits, the range of fp32). Rounding
// is to the nearest, ties to even; fp16 is clamped to its largest finite number, so that an
// activation out of range stays a number. NaN stays NaN.

#include <cstdint>
#include <cstring>

#include "gpu/prim/number16_type.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

inline constexpr float kLargestFp16 = 65504.0f;

#if !defined(BIOGPU_GPU_CUDA)
namespace detail {
__extension__ typedef _Float16 HalfPrecision;

__device__ __forceinline__ std::uint32_t bf16_bits(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  if (value != value) return (bits >> 16) | 0x40u;
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
}  // namespace detail
#endif

// Two numbers in one word, `low` in the low half: one instruction on NVIDIA. Elsewhere clamping
// takes some more, which kClamps = false saves where no number is out of range.
template <Number16 kType, bool kClamps = true>
__device__ __forceinline__ std::uint32_t number16_pair(float low, float high) {
#if defined(BIOGPU_GPU_CUDA)
  std::uint32_t word;
  if constexpr (kType == Number16::fp16) {
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  }
  return word;
#else
  if constexpr (kType == Number16::fp16) {
    const auto bits = [](float value) {
      if constexpr (kClamps) {
        value = value > kLargestFp16 ? kLargestFp16 : value;
        value = value < -kLargestFp16 ? -kLargestFp16 : value;
      }
      return __builtin_bit_cast(std::uint16_t, static_cast<detail::HalfPrecision>(value));
    };
    return bits(low) | static_cast<std::uint32_t>(bits(high)) << 16;
  } else {
    return detail::bf16_bits(low) | detail::bf16_bits(high) << 16;
  }
#endif
}

// The same with fp16 out of range infinite.
template <Number16 kType>
__device__ __forceinline__ std::uint32_t number16_pair_or_infinite(float low, float high) {
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kType == Number16::fp16) {
    std::uint32_t word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
#endif
  return number16_pair<kType, false>(low, high);
}

template <Number16 kType>
__device__ __forceinline__ std::uint16_t number16(float value) {
  return static_cast<std::uint16_t>(number16_pair<kType>(value, 0.0f) & 0xffffu);
}

template <Number16 kType>
__device__ __forceinline__ float number16_value(std::uint16_t bits) {
  if constexpr (kType == Number16::bf16) {
    const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
  } else {
#if defined(BIOGPU_GPU_CUDA)
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    return static_cast<float>(__builtin_bit_cast(detail::HalfPrecision, bits));
#endif
  }
}

// The low (0) or high (1) number of a word.
template <Number16 kType>
__device__ __forceinline__ float number16_of_pair(std::uint32_t word, int half) {
  return number16_value<kType>(static_cast<std::uint16_t>(half == 0 ? word & 0xffffu : word >> 16));
}

}  // namespace biogpu::gpu
