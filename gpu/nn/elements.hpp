#pragma once

#include <cstdint>

namespace biogpu::gpu::nn {

// How numbers lie in device memory.
enum class Element : std::uint8_t { f32, fp16, bf16 };

constexpr std::size_t bytes_of(Element type) { return type == Element::f32 ? 4 : 2; }

// Rows of numbers in device memory, `stride` elements apart; not owned. data == nullptr: not given.
// Rows that kernels read or write in groups of 4 start at multiples of 4 elements.
struct Rows {
  void* data = nullptr;
  std::int64_t stride = 0;
  Element type = Element::f32;
};

}  // namespace biogpu::gpu::nn
