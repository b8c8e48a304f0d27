#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/ops/normalisation/softmax.hpp"

namespace biogpu::ops {

// The lines of a Softmax: where the numbers of x, mask and out lie, in elements.
struct SoftmaxLines {
  static constexpr int kOthers = tensor::kMaxRank - 1;
  enum Array : int { kX, kMask, kOut, kArrays };

  std::int64_t length = 1, n_lines = 1;
  std::int64_t shape[kOthers] = {1, 1, 1, 1};  // of the other axes, the last fastest
  std::int64_t stride[kArrays][kOthers] = {};
  std::int64_t step[kArrays] = {};  // along a line; 0: the same for all of it
};

inline SoftmaxLines softmax_lines(const Softmax& op) {
  SoftmaxLines lines;
  const Tensor* const arrays[] = {&op.x, &op.mask, &op.out};
  const auto stride_of = [&](int array, int axis) -> std::int64_t {
    const Tensor& tensor = *arrays[array];
    const int own = axis - (op.x.rank - tensor.rank);
    if (tensor.empty() || own < 0) return 0;
    const auto a = static_cast<std::size_t>(own);
    return tensor.shape[a] == 1 ? 0 : tensor.stride[a];
  };
  int other = SoftmaxLines::kOthers;
  for (int axis = op.x.rank; axis-- > 0;) {
    const std::int64_t extent = op.x.shape[static_cast<std::size_t>(axis)];
    const bool along = axis == op.axis;
    if (!along) --other;
    (along ? lines.length : lines.shape[other]) = extent;
    for (int array = 0; array < SoftmaxLines::kArrays; ++array)
      (along ? lines.step[array] : lines.stride[array][other]) = stride_of(array, axis);
    if (!along) lines.n_lines *= extent;
  }
  return lines;
}

}  // namespace biogpu::ops
