#pragma once

// The layers that blocks are made of, in double precision and plain loops, on rows of numbers. They
// share nothing with lib/ops.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace biogpu::test {

using Numbers = std::vector<double>;

// Parameters of a linear map [n_out, n_in] or of a norm [n_out]; the bias may be empty.
struct DoubleLayer {
  std::size_t n_out = 0, n_in = 1;
  Numbers weight, bias;
};
// Parameters by the names of a checkpoint.
using DoubleLayers = std::map<std::string, DoubleLayer>;

// x W^T + b of every row.
inline Numbers product_of(const Numbers& x, const DoubleLayer& layer) {
  const std::size_t n_rows = x.size() / layer.n_in;
  Numbers y(n_rows * layer.n_out);
  for (std::size_t r = 0; r < n_rows; ++r)
    for (std::size_t o = 0; o < layer.n_out; ++o) {
      double sum = layer.bias.empty() ? 0 : layer.bias[o];
      for (std::size_t i = 0; i < layer.n_in; ++i)
        sum += x[r * layer.n_in + i] * layer.weight[o * layer.n_in + i];
      y[r * layer.n_out + o] = sum;
    }
  return y;
}

// (x - mean) / sqrt(variance + 1e-5) * weight + bias of every row.
inline Numbers norm_of(const Numbers& x, const DoubleLayer& layer) {
  const std::size_t d = layer.n_out;
  Numbers y(x.size());
  for (std::size_t r = 0; r < x.size(); r += d) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < d; ++i) mean += x[r + i] / static_cast<double>(d);
    for (std::size_t i = 0; i < d; ++i)
      variance += (x[r + i] - mean) * (x[r + i] - mean) / static_cast<double>(d);
    for (std::size_t i = 0; i < d; ++i)
      y[r + i] = (x[r + i] - mean) / std::sqrt(variance + 1e-5) * layer.weight[i] + layer.bias[i];
  }
  return y;
}

inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

inline void softmax_of(Numbers& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& number : x) sum += number = std::exp(number - top);
  for (double& number : x) number /= sum;
}

inline void add_to(Numbers& x, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

}  // namespace biogpu::test
