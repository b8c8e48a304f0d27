#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Convolution along the rows of each segment, zeros before and behind it:
//   y[q] = residual[q] + bias + sum over taps j of x[q * stride + j - (taps - 1) / 2] W[:, j, :]^T,
// one product for taps 1. Channels last; a segment of n rows becomes one of ceil(n / stride).
// A row gets the same bytes as part of any segment in which the rows that it reads are the same.
// A captured pass (Context::capture) is of the lengths of segments that it was captured with:
// its key tells them.
struct Conv1d {
  Tensor x;  // operand [T, C_in], contiguous
  // Uploaded as [C_out, taps, C_in]: conv1d_weight() of lib/ops/convolution/conv_weights.hpp.
  const Linear* linear = nullptr;
  std::int64_t taps = 1;  // odd
  std::int64_t stride = 1;
  const Ragged* segments = nullptr;      // of x; may be left out where taps and stride are 1
  const Ragged* out_segments = nullptr;  // of the results: tensor::shortened_starts() by the
                                         // stride; not read where the stride is 1
  Tensor residual;                       // f32 [T_out, C_out], or empty; may be out's memory
  Tensor out;           // y, f32 or operand [T_out, C_out], contiguous; empty: not wanted
  Activated activated;  // of y
};
BIOGPU_DECLARE_OP(conv1d, Conv1d);

}  // namespace biogpu::ops
