#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/ops/declare.hpp"

namespace biogpu::ops::reference {

// One normalised row; x may be the memory of a target.
template <class T>
void normalise(const std::vector<double>& x, const Norm& norm, T* out) {
  const auto d = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / d;
  for (const double v : x) variance += (v - mean) * (v - mean) / d;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(norm.eps));
  for (std::size_t i = 0; i < x.size(); ++i)
    out[i] = static_cast<T>((x[i] - mean) * scale * static_cast<double>(norm.weight.as<T>()[i]) +
                            static_cast<double>(norm.bias.as<T>()[i]));
}

// The targets of a row of embed and add_layer_norm.
template <class T = float, class Op>
void write_targets(const Op& op, const std::vector<double>& x, std::int64_t row) {
  if (!op.sum.empty())
    std::transform(x.begin(), x.end(), op.sum.template row<T>(row),
                   [](double v) { return static_cast<T>(v); });
  if (!op.out.empty()) normalise(x, op.norm, op.out.template row<T>(row));
  if (!op.out_operand.empty()) normalise(x, op.norm, op.out_operand.template row<T>(row));
}

}  // namespace biogpu::ops::reference
