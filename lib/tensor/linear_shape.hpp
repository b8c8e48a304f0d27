#pragma once

#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// The matrix [n_out, n_in] of a linear map's weight, contiguous, which may be a convolution's,
// [n_out, taps, n_in / taps].
inline Tensor weight_matrix(const Tensor& weight) {
  if (weight.rank == 2) return weight;
  return {weight.data, weight.dtype, {weight.shape[0], weight.shape[1] * weight.shape[2]}};
}

}  // namespace biogpu::tensor
