#pragma once

#include <cstdint>
#include <vector>

#include "lib/tensor/tensor.hpp"

namespace biogpu::models {

// Features of relative positions, rows [2 L - 1, n_features] for distances -(L - 1) to L - 1, times
// a weight f32 [n_heads * d_key, n_features], as ops::RelativeAttention reads the product:
// [n_heads, 2 L - 1, d_key].
std::vector<float> relative_keys(const std::vector<double>& features, std::int64_t n_heads,
                                 const tensor::Tensor& weight);

}  // namespace biogpu::models
