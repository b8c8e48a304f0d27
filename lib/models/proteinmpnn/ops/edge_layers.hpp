#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/ops/declare.hpp"
#include "lib/ops/reference/outputs.hpp"

// Layers of operations on edges, one row at a time in double precision.
namespace biogpu::models::proteinmpnn::reference {

using ops::Linear;
using ops::Norm;
using Row = std::vector<double>;

inline Row row_of(const float* x, std::int64_t n) { return {x, x + n}; }

// W x + bias_scale b.
inline Row multiply(const Linear& linear, const Row& x, double bias_scale = 1) {
  Row y(static_cast<std::size_t>(linear.n_out));
  for (std::int64_t o = 0; o < linear.n_out; ++o) {
    double sum = linear.bias.empty() ? 0 : bias_scale * linear.bias.as<float>()[o];
    for (std::size_t k = 0; k < x.size(); ++k)
      sum += static_cast<double>(linear.weight.row<float>(o)[k]) * x[k];
    y[static_cast<std::size_t>(o)] = sum;
  }
  return y;
}

inline void add(Row& x, const float* y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += static_cast<double>(y[i]);
}
inline Row plus(Row x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}
inline Row gelu(Row x) {
  for (double& v : x) v = ops::reference::activate(ops::Activation::gelu_erf, v);
  return x;
}
inline Row layer_norm(const Row& x, const Norm& norm) {
  const auto d = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / d;
  for (const double v : x) variance += (v - mean) * (v - mean) / d;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(norm.eps));
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = (x[i] - mean) * scale * static_cast<double>(norm.weight.as<float>()[i]) +
           static_cast<double>(norm.bias.as<float>()[i]);
  return y;
}
inline void store(const Row& x, float* to) {
  for (std::size_t i = 0; i < x.size(); ++i) to[i] = static_cast<float>(x[i]);
}

}  // namespace biogpu::models::proteinmpnn::reference
