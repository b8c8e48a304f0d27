#pragma once

// Threads of TensorNet's kernels: 32 lanes a row, or one an atom and channel.

#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/row_lanes.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::gpu::tensornet {

using ops::kLanes;
using ops::launch_rows;
using ops::sum_of_lanes;

// Of an array [9, T, F].
inline ops::TensorGrid grid_of(const tensor::Tensor& x) {
  return {x.shape[1], static_cast<int>(x.shape[2])};
}

}  // namespace biogpu::gpu::tensornet
