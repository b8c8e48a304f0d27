#pragma once

// Device side of elements.hpp: numbers of any type as fp32. The type is the same for a whole
// launch; kernels that do little else but load and store are compiled for it instead.

#include "gpu/ops/elements.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/number16.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::ops {

struct alignas(16) Float4 {
  float value[4];
};
struct alignas(8) Words2 {
  std::uint32_t word[2];
};

// kCount 16-bit numbers, two a word, as fp32.
template <int kCount>
__device__ __forceinline__ void unpack_elements(Element type, const std::uint32_t* word,
                                                float* value) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    value[i] = type == Element::fp16 ? number16_of_pair<Number16::fp16>(word[i / 2], i % 2)
                                     : number16_of_pair<Number16::bf16>(word[i / 2], i % 2);
  }
}

template <int kCount>
__device__ __forceinline__ void pack_elements(Element type, const float* value,
                                              std::uint32_t* word) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    word[i] = type == Element::fp16 ? number16_pair<Number16::fp16>(value[2 * i], value[2 * i + 1])
                                    : number16_pair<Number16::bf16>(value[2 * i], value[2 * i + 1]);
  }
}

__device__ __forceinline__ float load_element(const Rows& rows, std::int64_t row, int column) {
  const std::int64_t at = row * rows.stride + column;
  if (rows.type == Element::f32) return static_cast<const float*>(rows.data)[at];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(rows.data)[at];
  return rows.type == Element::fp16 ? number16_value<Number16::fp16>(bits)
                                    : number16_value<Number16::bf16>(bits);
}

__device__ __forceinline__ void store_element(const Rows& rows, std::int64_t row, int column,
                                              float value) {
  const std::int64_t at = row * rows.stride + column;
  if (rows.type == Element::f32) {
    static_cast<float*>(rows.data)[at] = value;
  } else {
    static_cast<std::uint16_t*>(rows.data)[at] = rows.type == Element::fp16
                                                     ? number16<Number16::fp16>(value)
                                                     : number16<Number16::bf16>(value);
  }
}

__device__ __forceinline__ Float4 load_elements4(const Rows& rows, std::int64_t row, int column) {
  const std::int64_t at = row * rows.stride + column;
  if (rows.type == Element::f32) {
    return *reinterpret_cast<const Float4*>(static_cast<const float*>(rows.data) + at);
  }
  const auto words =
      *reinterpret_cast<const Words2*>(static_cast<const std::uint16_t*>(rows.data) + at);
  Float4 x;
  unpack_elements<4>(rows.type, words.word, x.value);
  return x;
}

__device__ __forceinline__ void store_elements4(const Rows& rows, std::int64_t row, int column,
                                                const Float4& x) {
  const std::int64_t at = row * rows.stride + column;
  if (rows.type == Element::f32) {
    *reinterpret_cast<Float4*>(static_cast<float*>(rows.data) + at) = x;
    return;
  }
  Words2 words;
  pack_elements<4>(rows.type, x.value, words.word);
  *reinterpret_cast<Words2*>(static_cast<std::uint16_t*>(rows.data) + at) = words;
}

// 8 numbers of 16 bits at once: the widest access there is.
struct Float8 {
  float value[8];
};

__device__ __forceinline__ Float8 load_elements8(const Rows& rows, std::int64_t row, int column) {
  Float8 x;
  if (rows.type == Element::f32) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Float4 part = load_elements4(rows, row, column + 4 * half);
#pragma unroll
      for (int i = 0; i < 4; ++i) x.value[4 * half + i] = part.value[i];
    }
    return x;
  }
  const auto words = *reinterpret_cast<const Bytes16*>(
      static_cast<const std::uint16_t*>(rows.data) + row * rows.stride + column);
  unpack_elements<8>(rows.type, words.word, x.value);
  return x;
}

__device__ __forceinline__ void store_elements8(const Rows& rows, std::int64_t row, int column,
                                                const Float8& x) {
  if (rows.type == Element::f32) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Float4 part;
#pragma unroll
      for (int i = 0; i < 4; ++i) part.value[i] = x.value[4 * half + i];
      store_elements4(rows, row, column + 4 * half, part);
    }
    return;
  }
  Bytes16 words;
  pack_elements<8>(rows.type, x.value, words.word);
  *reinterpret_cast<Bytes16*>(static_cast<std::uint16_t*>(rows.data) + row * rows.stride + column) =
      words;
}

}  // namespace biogpu::gpu::ops
