#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/ops/gemm/matmul.hpp"

// Operands that a product cannot read at full rate where they lie are copied on the way, a group of
// products at a time, so that the copies stay small.
namespace biogpu::ops {

// The batch axis along which x's numbers lie next to each other, where those of no row or column
// do: channels behind pairs. -1: none.
inline int channel_axis(const Tensor& x) {
  const auto is_contiguous = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    return x.shape[a] > 1 && x.stride[a] == 1;
  };
  if (is_contiguous(x.rank - 1) || is_contiguous(x.rank - 2)) return -1;
  for (int axis = x.rank - 2; axis-- > 0;)
    if (is_contiguous(axis)) return axis;
  return -1;
}
inline int channel_axis(const Matmul& op) {
  return std::max({channel_axis(op.a), channel_axis(op.b), channel_axis(op.y)});
}

// A tensor of x's shape whose last axis is contiguous and whose rows begin at multiples of 8
// numbers.
inline Tensor staged_like(const Tensor& x, void* memory) {
  Tensor y = x;
  y.data = memory;
  std::int64_t step = 1;
  for (auto i = static_cast<std::size_t>(x.rank); i-- > 0;) {
    y.stride[i] = step;
    step *= i + 1 == static_cast<std::size_t>(x.rank) ? (x.shape[i] + 7) / 8 * 8 : x.shape[i];
  }
  return y;
}
inline std::size_t staged_bytes(const Tensor& x) {
  const Tensor y = staged_like(x, nullptr);
  return static_cast<std::size_t>(y.stride[0] * y.shape[0] + 8) * tensor::bytes_of(x.dtype);
}

// Multiplies n_at_once indices of a batch axis after each other; axis -1: all at once. stages(i,
// x): whether operand i of a, b and y is copied; memory(i, bytes): for it; copy(from, to);
// multiply(op).
template <class Stages, class Memory, class Copy, class Multiply>
void multiply_in_groups(const Matmul& op, int axis, std::int64_t n_at_once, const Stages& stages,
                        const Memory& memory, const Copy& copy, const Multiply& multiply) {
  const auto a = static_cast<std::size_t>(axis);
  const std::int64_t n = axis < 0 ? 1 : op.y.shape[a];
  for (std::int64_t begin = 0; begin < n; begin += n_at_once) {
    const auto group_of = [&](const Tensor& x) {
      return axis < 0 || x.shape[a] == 1 ? x : x.slice(axis, begin, std::min(begin + n_at_once, n));
    };
    const Matmul group{group_of(op.a), group_of(op.b), group_of(op.y), op.scale};
    const auto staged = [&](int i, const Tensor& x) {
      return stages(i, x) ? staged_like(x, memory(i, staged_bytes(x))) : x;
    };
    const Matmul part{staged(0, group.a), staged(1, group.b), staged(2, group.y), op.scale};
    if (stages(0, group.a)) copy(group.a, part.a);
    if (stages(1, group.b)) copy(group.b, part.b);
    multiply(part);
    if (stages(2, group.y)) copy(part.y, group.y);
  }
}

}  // namespace biogpu::ops
