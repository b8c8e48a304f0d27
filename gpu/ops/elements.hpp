#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/tensor/tensor.hpp"

namespace biogpu::gpu::ops {

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

constexpr Element element_of(tensor::DType dtype) {
  return dtype == tensor::DType::f16    ? Element::fp16
         : dtype == tensor::DType::bf16 ? Element::bf16
                                        : Element::f32;
}

// The view of a tensor of rank 2, or of rank 3 with its last two axes as one row.
inline Rows rows_of(const tensor::Tensor& tensor) {
  if (tensor.empty()) return {};
  return {tensor.data, tensor.stride[0], element_of(tensor.dtype)};
}

}  // namespace biogpu::gpu::ops
