#pragma once

// Two signed 16-bit numbers in one 32-bit register and what is done to both halves at once. Single
// instructions on NVIDIA from sm_90 (DPX) and on AMD from gfx90a (v_pk_*); CUDA's own software
// forms on older NVIDIA devices; plain C++ on the emulated platform, which is the definition of the
// others. Sums wrap: callers keep their numbers inside 16 bits.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// .x is the low half.
struct I16x2 {
  std::uint32_t bits;
};

__device__ __forceinline__ I16x2 i16x2(int low, int high) {
  return {(static_cast<std::uint32_t>(low) & 0xffffu) | (static_cast<std::uint32_t>(high) << 16)};
}
__device__ __forceinline__ int i16x2_low(I16x2 a) {
  return static_cast<std::int16_t>(a.bits & 0xffffu);
}
__device__ __forceinline__ int i16x2_high(I16x2 a) {
  return static_cast<std::int16_t>(a.bits >> 16);
}

#if defined(BIOGPU_GPU_ROCM)
namespace detail {
using Short2 = short __attribute__((ext_vector_type(2)));
__device__ __forceinline__ Short2 short2_of(I16x2 a) { return __builtin_bit_cast(Short2, a.bits); }
__device__ __forceinline__ I16x2 packed_of(Short2 a) {
  return {__builtin_bit_cast(std::uint32_t, a)};
}
}  // namespace detail
#endif

// a + b
__device__ __forceinline__ I16x2 i16x2_add(I16x2 a, I16x2 b) {
#if defined(BIOGPU_GPU_CUDA)
  return {__vadd2(a.bits, b.bits)};
#elif defined(BIOGPU_GPU_ROCM)
  return detail::packed_of(detail::short2_of(a) + detail::short2_of(b));
#else
  return i16x2(i16x2_low(a) + i16x2_low(b), i16x2_high(a) + i16x2_high(b));
#endif
}

// max(a, b)
__device__ __forceinline__ I16x2 i16x2_max(I16x2 a, I16x2 b) {
#if defined(BIOGPU_GPU_CUDA)
  return {__vmaxs2(a.bits, b.bits)};
#elif defined(BIOGPU_GPU_ROCM)
  return detail::packed_of(__builtin_elementwise_max(detail::short2_of(a), detail::short2_of(b)));
#else
  const int low = i16x2_low(a) > i16x2_low(b) ? i16x2_low(a) : i16x2_low(b);
  const int high = i16x2_high(a) > i16x2_high(b) ? i16x2_high(a) : i16x2_high(b);
  return i16x2(low, high);
#endif
}

// max(a, b, c)
__device__ __forceinline__ I16x2 i16x2_max3(I16x2 a, I16x2 b, I16x2 c) {
#if defined(BIOGPU_GPU_CUDA)
  return {__vimax3_s16x2(a.bits, b.bits, c.bits)};
#else
  return i16x2_max(i16x2_max(a, b), c);
#endif
}

// max(a + b, c)
__device__ __forceinline__ I16x2 i16x2_add_max(I16x2 a, I16x2 b, I16x2 c) {
#if defined(BIOGPU_GPU_CUDA)
  return {__viaddmax_s16x2(a.bits, b.bits, c.bits)};
#else
  return i16x2_max(i16x2_add(a, b), c);
#endif
}

// max(a + b, c, 0)
__device__ __forceinline__ I16x2 i16x2_add_max_relu(I16x2 a, I16x2 b, I16x2 c) {
#if defined(BIOGPU_GPU_CUDA)
  return {__viaddmax_s16x2_relu(a.bits, b.bits, c.bits)};
#else
  return i16x2_max(i16x2_add_max(a, b, c), I16x2{0});
#endif
}

// What is added to both halves by one ordinary 32-bit addition, which more than one pipe of an
// NVIDIA multiprocessor takes: the halves as one number, so that a negative low half borrows from
// the high one and the sum gives it back.
struct I16x2Offset {
  std::uint32_t bits;
};

__host__ __device__ __forceinline__ constexpr I16x2Offset i16x2_offset(int low, int high) {
  return {static_cast<std::uint32_t>(low) + (static_cast<std::uint32_t>(high) << 16)};
}

// a + b where the low half of a and of the sum, read without a sign, are right: from 0 to 65535.
__device__ __forceinline__ I16x2 i16x2_shifted(I16x2 a, I16x2Offset b) { return {a.bits + b.bits}; }

// Small numbers to be added to small ones, 0 to kMostSmall, where neither the pipe of the packed
// operations nor a borrow between the halves is wanted. Half-precision patterns of that size are
// multiples of 2^-24 and count like integers, so on NVIDIA one addition of two halves adds both,
// exactly, on the pipe of the multiply-adds; elsewhere this is i16x2_add.
inline constexpr int kMostSmall = 2047;
struct I16x2Small {
  std::uint32_t bits;
};
// The same number for both halves.
struct I16x2Equal {
  std::uint16_t bits;
};

// From -kMostSmall to kMostSmall.
__host__ __device__ __forceinline__ constexpr I16x2Equal i16x2_equal(int value) {
#if defined(BIOGPU_GPU_CUDA)
  return {static_cast<std::uint16_t>(value < 0 ? 0x8000 | -value : value)};  // sign and magnitude
#else
  return {static_cast<std::uint16_t>(value)};
#endif
}
__host__ __device__ __forceinline__ constexpr I16x2Small i16x2_small(int low, int high) {
  return {i16x2_equal(low).bits | static_cast<std::uint32_t>(i16x2_equal(high).bits) << 16};
}

// a + b where a is 0 to kMostSmall: right where the sum is that too; some negative number where it
// is below 0; where it is above, some number.
__device__ __forceinline__ I16x2 i16x2_add_small(I16x2 a, I16x2Small b) {
#if defined(BIOGPU_GPU_CUDA)
  std::uint32_t bits;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(bits) : "r"(a.bits), "r"(b.bits));
  return {bits};
#else
  return i16x2_add(a, I16x2{b.bits});
#endif
}
// The half that both share is an operand of HADD2 alone. Of two whole words ptxas makes a fused
// multiply-add as often, and that takes twice as long.
__device__ __forceinline__ I16x2 i16x2_add_small(I16x2 a, I16x2Equal b) {
#if defined(BIOGPU_GPU_CUDA)
  std::uint32_t bits;
  asm("{.reg .b32 both; mov.b32 both, {%2, %2}; add.rn.f16x2 %0, %1, both;}"
      : "=r"(bits)
      : "r"(a.bits), "h"(b.bits));
  return {bits};
#else
  return i16x2_add(a, I16x2{b.bits * 0x10001u});
#endif
}

// Whether a >= b, as one bit of each half of the result, the others being of no meaning: that of
// `guard`, a power of two in both halves that is greater than any difference of a and b. An
// ordinary subtraction: the guards keep the low half from borrowing.
struct I16x2Bits {
  std::uint32_t bits;
};

__device__ __forceinline__ I16x2Bits i16x2_at_least(I16x2 a, I16x2 b, std::uint32_t guard) {
  return {a.bits + guard - b.bits};
}

// The high bytes of both: of a's low half and high half, then of b's.
__device__ __forceinline__ std::uint32_t i16x2_high_bytes(I16x2Bits a, I16x2Bits b) {
#if defined(BIOGPU_GPU_CUDA)
  return __byte_perm(a.bits, b.bits, 0x7531);
#elif defined(BIOGPU_GPU_ROCM)
  return __builtin_amdgcn_perm(b.bits, a.bits, 0x07050301u);
#else
  const auto bytes = [](std::uint32_t word) {
    return (word >> 8 & 0xffu) | (word >> 16 & 0xff00u);
  };
  return bytes(a.bits) | bytes(b.bits) << 16;
#endif
}

// Bytes, one for each half, out of two words of 4 signed bytes: which ones is told by a selector,
// made once and used for many words.
struct I16x2Selector {
  std::uint32_t bits;
};

// Selects byte `low` (0..3) of the first word and byte `high` (0..3) of the second.
__device__ __forceinline__ I16x2Selector i16x2_selector(std::uint32_t low, std::uint32_t high) {
#if defined(BIOGPU_GPU_CUDA)
  return {low * 0x11u + high * 0x1100u + 0xc480u};  // nibbles; 8 asks for the sign of the byte
#elif defined(BIOGPU_GPU_ROCM)
  return {(low << 8 | high << 24) + 0x040c000cu};  // bytes; 12 gives 0; the second word has 4..7
#else
  return {low | high << 16};
#endif
}

// The selected bytes, sign-extended: low half from `low_word`, high half from `high_word`.
__device__ __forceinline__ I16x2 i16x2_select(std::uint32_t low_word, std::uint32_t high_word,
                                              I16x2Selector selector) {
#if defined(BIOGPU_GPU_CUDA)
  std::uint32_t bits;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bits) : "r"(low_word), "r"(high_word), "r"(selector.bits));
  return {bits};
#elif defined(BIOGPU_GPU_ROCM)
  const detail::Short2 high_bytes =
      __builtin_bit_cast(detail::Short2, __builtin_amdgcn_perm(high_word, low_word, selector.bits));
  return detail::packed_of(high_bytes >> 8);
#else
  const auto byte = [](std::uint32_t word, std::uint32_t index) {
    return static_cast<std::int8_t>(word >> (8 * index) & 0xffu);
  };
  return i16x2(byte(low_word, selector.bits & 0xffffu), byte(high_word, selector.bits >> 16));
#endif
}

}  // namespace biogpu::gpu
