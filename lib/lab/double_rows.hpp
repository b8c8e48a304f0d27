#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/lab/random_weights.hpp"

// Layers on one row of numbers in double precision and plain loops: what results of blocks are
// compared with. They share nothing with lib/ops.
namespace biogpu::lab {

using Row = std::vector<double>;

inline Row row_of(const std::vector<float>& values, std::int64_t index, std::int64_t width) {
  const float* const begin = values.data() + index * width;
  return {begin, begin + width};
}

inline Row linear_of(const Row& x, const Layer& layer) {
  Row y(static_cast<std::size_t>(layer.n_out));
  for (std::size_t o = 0; o < y.size(); ++o) {
    double sum = layer.bias.empty() ? 0 : layer.bias[o];
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += x[i] * static_cast<double>(layer.weight[o * x.size() + i]);
    y[o] = sum;
  }
  return y;
}

// (x - mean) / sqrt(variance + 1e-5), then weight and bias where there are any.
inline Row norm_of(const Row& x, const Layer& layer) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double number : x) mean += number / n;
  for (const double number : x) variance += (number - mean) * (number - mean) / n;
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scaled = (x[i] - mean) / std::sqrt(variance + 1e-5);
    y[i] = scaled * (layer.weight.empty() ? 1 : static_cast<double>(layer.weight[i])) +
           (layer.bias.empty() ? 0 : static_cast<double>(layer.bias[i]));
  }
  return y;
}

inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// x times sigmoid(by).
inline Row gated(Row x, const Row& by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= sigmoid_of(by[i]);
  return x;
}

inline Row sum_of(Row x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

// silu(a) b
inline Row silu_product(const Row& a, const Row& b) {
  Row y(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) y[i] = a[i] * sigmoid_of(a[i]) * b[i];
  return y;
}

inline void softmax_of(Row& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& number : x) sum += number = std::exp(number - top);
  for (double& number : x) number /= sum;
}

// One query over keys: sum_j softmax_j(q k_j / sqrt(h) + bias_j) v_j of each head. bias:
// [key][head].
inline Row attended(const Row& q, const std::vector<Row>& k, const std::vector<Row>& v,
                    const std::vector<Row>& bias, std::size_t n_heads) {
  const std::size_t h = q.size() / n_heads;
  Row out(q.size());
  for (std::size_t head = 0; head < n_heads; ++head) {
    Row p(k.size());
    for (std::size_t j = 0; j < k.size(); ++j) {
      double sum = 0;
      for (std::size_t e = head * h; e < (head + 1) * h; ++e) sum += q[e] * k[j][e];
      p[j] = sum / std::sqrt(static_cast<double>(h)) + bias[j][head];
    }
    softmax_of(p);
    for (std::size_t j = 0; j < k.size(); ++j)
      for (std::size_t e = head * h; e < (head + 1) * h; ++e) out[e] += p[j] * v[j][e];
  }
  return out;
}

}  // namespace biogpu::lab
