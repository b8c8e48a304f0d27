#pragma once

// What both kernels of conv_product.hpp compute, and what follows their sums.

#include "gpu/ops/convolution/conv_product.hpp"
#include "gpu/ops/output_access.hpp"

namespace biogpu::gpu::ops {

// One launch: rows [first_row, first_row + m) of the result.
struct ConvArgs {
  const std::uint16_t* x = nullptr;       // [n_x_rows, channels], from row first_x_row on
  const std::uint16_t* low = nullptr;     // what x leaves of fp32 numbers, or not given
  const std::uint16_t* weight = nullptr;  // [n, k]
  const float* bias = nullptr;            // [n], or not given
  int first_x_row = 0, n_x_rows = 0;
  int first_row = 0;
  int m = 0, k = 0;     // k: thrice the taps' channels where low is given
  float sum_scale = 1;  // of the sums there; see DeviceLinear
  int channels = 0, taps = 1, stride = 1;
  SegmentMap segments;
  Rows residual, paired;
  const RowPair* pairs = nullptr;
  Outputs outputs;
};

// One number of a pair of rows, first and second, weighted by a softmax of two: of the difference
// of their logits.
__device__ __forceinline__ float pool_pair(float logit, float first, float second) {
  return second + sigmoid(logit) * (first - second);
}

// What follows the sums of columns [c, c + kWidth) of row r of the launch.
template <int kWidth>
__device__ __forceinline__ void finish_values(const ConvArgs& a, int r, int c, float* y) {
  const int row = a.first_row + r, n = a.outputs.n;
  if (a.bias != nullptr) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) y[i] += c + i < n ? a.bias[c + i] : 0.0f;
  }
  if (a.pairs != nullptr) {
    const RowPair pair = a.pairs[row];
    float first[kWidth], second[kWidth];
    load_neighbours<kWidth>(a.paired, pair.first, c, n, first);
    load_neighbours<kWidth>(a.paired, pair.second, c, n, second);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) y[i] = pool_pair(y[i], first[i], second[i]);
  }
  if (a.residual.data != nullptr) {
    float x[kWidth];
    load_neighbours<kWidth>(a.residual, row, c, n, x);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) y[i] += x[i];
  }
  store_outputs<kWidth>(a.outputs, row, c, y);
}

}  // namespace biogpu::gpu::ops
