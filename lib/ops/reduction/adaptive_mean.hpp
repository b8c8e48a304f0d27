#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Rows to a given number of rows, fewer or more: out[b, i] is the mean of x[b, j] for j from
// floor(i n / m) to ceil((i + 1) n / m) - 1, PyTorch's rule of adaptive_avg_pool1d. Of images: once
// for the columns of [images * H, W, C], once for the rows of [images, H, W * C].
struct AdaptiveMean {
  Tensor x;    // f32 or operand [B, n, C], n above 0; batches and rows of any distance
  Tensor out;  // f32 or operand [B, m, C], likewise
};
BIOGPU_DECLARE_OP(adaptive_mean, AdaptiveMean);
void check(const AdaptiveMean& op);

// Rows of x that row i of out takes.
struct AdaptiveRange {
  std::int64_t begin, end;
};
constexpr AdaptiveRange adaptive_range(std::int64_t i, std::int64_t n, std::int64_t m) {
  return {i * n / m, ((i + 1) * n + m - 1) / m};
}

}  // namespace biogpu::ops
