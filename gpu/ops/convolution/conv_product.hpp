#pragma once

#include <cstdint>

#include "gpu/ops/device.hpp"
#include "gpu/ops/elements.hpp"
#include "gpu/ops/outputs.hpp"
#include "gpu/ops/segment_windows.hpp"
#include "lib/tensor/linear.hpp"
#include "lib/tensor/ragged.hpp"

namespace biogpu::gpu::ops {

// Two rows that attention pooling makes one of.
struct RowPair {
  std::int32_t first, second;
};

// y[r] = residual[r] + bias + sum over taps j of x[window(r) + j] W[:, j, :]^T, or of pairs of rows
// p: p.second + sigmoid(y[r]) (p.first - p.second).
struct ConvProduct {
  Rows x;  // operand, contiguous rows of n_in / taps numbers
  std::int64_t n_x_rows = 0;
  const tensor::Linear* linear = nullptr;  // [n, n_in]
  std::int64_t m = 0;                      // rows of the result
  // Their segments, of which large ones are products by themselves where the stride is 1; or not
  // given.
  const tensor::Ragged* rows = nullptr;
  int taps = 1, stride = 1;
  SegmentMap segments;             // not given for one tap: row r of x for row r of the result
  Rows residual;                   // or not given
  Rows paired;                     // rows that pairs are of, or not given
  const RowPair* pairs = nullptr;  // [m]
  Outputs outputs;
};

void multiply_windows(Device& device, const ConvProduct& product);

}  // namespace biogpu::gpu::ops
