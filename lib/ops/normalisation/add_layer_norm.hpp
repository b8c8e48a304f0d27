#pragma once

#include <cstdint>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

enum class NormKind : std::uint8_t {
  layer,  // (x - mean) / sqrt(variance + eps) (Ba, Kiros and Hinton 2016, arXiv 1607.06450)
  rms,    // x / sqrt(mean of x^2 + eps) (Zhang and Sennrich 2019, arXiv 1910.07467)
};

// sum = x + add, out and out_operand = norm(x + add). Each target is optional, and may be the
// memory of x where it has x's type. With several groups, each of as many equal parts of a row is
// normalised by itself: group norm over the channels of a row (Wu and He 2018, arXiv 1803.08494).
struct AddLayerNorm {
  Tensor x;            // f32 or operand [R, d], rows of any distance
  Tensor add;          // operand [R, d], or empty
  Norm norm;           // weight and bias [d]; each may be empty: 1, and 0
  Tensor sum;          // f32 [R, d], or empty
  Tensor out;          // f32 [R, d], or empty
  Tensor out_operand;  // operand [R, d], or empty
  NormKind kind = NormKind::layer;
  std::int64_t n_groups = 1;  // divides d
};
BIOGPU_DECLARE_OP(add_layer_norm, AddLayerNorm);

}  // namespace biogpu::ops
