#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/tensor/tensor.hpp"

namespace biogpu::ops {

// The axes of a copy between views of one shape in the order of out's strides, the smallest last:
// axes of one number are left out, and neighbours that lie one after the other in both are one. At
// least one axis is left.
struct CopyAxes {
  int rank = 0;
  std::array<std::int64_t, tensor::kMaxRank> shape{}, from{}, to{};

  // The axis along which x's numbers lie closest to each other; the last where no other is closer,
  // and where the same number is repeated.
  int fastest_of_x() const {
    auto best = static_cast<std::size_t>(rank) - 1;
    for (std::size_t i = best; i-- > 0;)
      if (from[i] > 0 && from[i] < from[best]) best = i;
    return static_cast<int>(best);
  }
};

inline CopyAxes copy_axes(const tensor::Tensor& x, const tensor::Tensor& out) {
  std::array<std::size_t, tensor::kMaxRank> order{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.rank); ++i)
    if (x.shape[i] != 1) order[n++] = i;
  std::stable_sort(order.begin(), order.begin() + n,
                   [&](std::size_t i, std::size_t j) { return out.stride[i] > out.stride[j]; });
  CopyAxes axes;
  axes.rank = 1;
  axes.shape[0] = axes.from[0] = axes.to[0] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t length = x.shape[order[i]];
    const std::int64_t from = x.stride[order[i]], to = out.stride[order[i]];
    auto last = static_cast<std::size_t>(axes.rank) - 1;
    const bool follows =
        axes.shape[last] == 1 || (axes.from[last] == from * length && axes.to[last] == to * length);
    if (!follows) last = static_cast<std::size_t>(axes.rank++);
    axes.shape[last] = follows ? axes.shape[last] * length : length;
    axes.from[last] = from;
    axes.to[last] = to;
  }
  return axes;
}

}  // namespace biogpu::ops
