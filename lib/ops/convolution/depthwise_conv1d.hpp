#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Convolution of each channel by itself along the rows of each segment, zeros before and behind it:
//   y[q, c] = sum over taps j of x[q + j - (taps - 1) / 2, c] weight[j, c].
// The first half of a separable convolution (Chollet 2017, Xception, arXiv 1610.02357); the second
// is a product of rows.
struct DepthwiseConv1d {
  Tensor x;       // f32 or operand [T, C], contiguous
  Tensor weight;  // f32 [taps, C], contiguous; taps odd
  const Ragged* segments = nullptr;
  Tensor out;           // y, f32 or operand [T, C], contiguous; empty: not wanted
  Activated activated;  // of y
};
BIOGPU_DECLARE_OP(depthwise_conv1d, DepthwiseConv1d);

}  // namespace biogpu::ops
