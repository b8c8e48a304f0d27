#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/ops/declare.hpp"

namespace biogpu::ops::reference {

// What is taken off a row before it is scaled, and how many parts of it are scaled by themselves.
struct RowStatistics {
  bool centred = true;
  std::size_t n_groups = 1;
};

// One normalised row; x may be the memory of a target.
template <class T>
void normalise(const std::vector<double>& x, const Norm& norm, const RowStatistics& of, T* out) {
  const std::size_t d = x.size() / of.n_groups;
  for (std::size_t first = 0; first < x.size(); first += d) {
    double mean = 0, variance = 0;
    for (std::size_t i = first; of.centred && i < first + d; ++i)
      mean += x[i] / static_cast<double>(d);
    for (std::size_t i = first; i < first + d; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(d);
    const double scale = 1 / std::sqrt(variance + static_cast<double>(norm.eps));
    for (std::size_t i = first; i < first + d; ++i) {
      const double weight = norm.weight.empty() ? 1 : static_cast<double>(norm.weight.as<T>()[i]);
      const double bias = norm.bias.empty() ? 0 : static_cast<double>(norm.bias.as<T>()[i]);
      out[i] = static_cast<T>((x[i] - mean) * scale * weight + bias);
    }
  }
}

// The targets of a row of embed and add_layer_norm.
template <class T = float, class Op>
void write_targets(const Op& op, const std::vector<double>& x, std::int64_t row,
                   const RowStatistics& of = {}) {
  if (!op.sum.empty())
    std::transform(x.begin(), x.end(), op.sum.template row<T>(row),
                   [](double v) { return static_cast<T>(v); });
  if (!op.out.empty()) normalise(x, op.norm, of, op.out.template row<T>(row));
  if (!op.out_operand.empty()) normalise(x, op.norm, of, op.out_operand.template row<T>(row));
}

}  // namespace biogpu::ops::reference
