#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/tensor/tensor.hpp"

namespace biogpu::ops {

// The bytes of row `from_row` of a matrix to row `to_row` of one with its type and width.
inline void copy_row(const tensor::Tensor& from, std::int64_t from_row, const tensor::Tensor& to,
                     std::int64_t to_row) {
  const auto size = static_cast<std::int64_t>(tensor::bytes_of(from.dtype));
  std::memcpy(static_cast<std::byte*>(to.data) + to_row * to.stride[0] * size,
              static_cast<const std::byte*>(from.data) + from_row * from.stride[0] * size,
              static_cast<std::size_t>(from.shape[1] * size));
}

// Zeros to row `row` of a matrix of numbers.
inline void clear_row(const tensor::Tensor& to, std::int64_t row) {
  const auto size = static_cast<std::int64_t>(tensor::bytes_of(to.dtype));
  std::memset(static_cast<std::byte*>(to.data) + row * to.stride[0] * size, 0,
              static_cast<std::size_t>(to.shape[1] * size));
}

}  // namespace biogpu::ops
