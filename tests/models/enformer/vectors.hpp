#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "lib/tensor/weights/safetensors.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

// The source tree's, or where an installed test is told that it lies.
inline std::string model_data(const std::string& path) {
  const char* const elsewhere = std::getenv("BIOGPU_TEST_DATA");
  return std::string(elsewhere != nullptr ? elsewhere : BIOGPU_TEST_DATA) + "/models/" + path;
}

// Tensors of a file, by name, as fp32.
class Vectors {
 public:
  explicit Vectors(const std::string& path)
      : checkpoint_(tensor::Checkpoint::open(model_data(path))) {}

  bool has(const std::string& name) const { return checkpoint_.tensors().count(name) == 1; }
  std::vector<float> operator[](const std::string& name) const {
    INFO(name);
    REQUIRE(checkpoint_.tensors().count(name) == 1);
    const tensor::StoredTensor& stored = checkpoint_.tensors().at(name);
    std::vector<float> values(static_cast<std::size_t>(stored.size()));
    REQUIRE(stored.to_floats(values.data()));
    return values;
  }

 private:
  tensor::Checkpoint checkpoint_;
};

// The standard deviations of each column over rows.
inline std::vector<double> column_spreads(const std::vector<float>& values, std::size_t n_columns) {
  const std::size_t n_rows = values.size() / n_columns;
  std::vector<double> spreads;
  for (std::size_t c = 0; c < n_columns; ++c) {
    double mean = 0, squares = 0;
    for (std::size_t i = c; i < values.size(); i += n_columns)
      mean += static_cast<double>(values[i]) / static_cast<double>(n_rows);
    for (std::size_t i = c; i < values.size(); i += n_columns)
      squares += std::pow(static_cast<double>(values[i]) - mean, 2);
    spreads.push_back(std::sqrt(squares / static_cast<double>(n_rows)));
  }
  return spreads;
}

// Largest difference of rows by positions, over the standard deviation of its column over
// positions, or, where that is small, a tenth of the typical one.
inline double position_difference(const std::vector<float>& got, const std::vector<float>& right,
                                  std::size_t n_columns) {
  if (got.size() != right.size() || right.empty() || right.size() % n_columns != 0) return INFINITY;
  std::vector<double> spreads = column_spreads(right, n_columns), sorted = spreads;
  std::sort(sorted.begin(), sorted.end());
  for (double& spread : spreads) spread = std::max(spread, 0.1 * sorted[n_columns / 2]);
  double worst = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(got[i]) - static_cast<double>(right[i]));
    worst = std::isfinite(apart) ? std::max(worst, apart / spreads[i % n_columns]) : INFINITY;
  }
  return worst;
}

// Largest difference over the standard deviation of the reference.
inline double difference(const std::vector<float>& got, const std::vector<float>& right) {
  if (got.size() != right.size() || right.empty()) return INFINITY;
  double worst = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto value = static_cast<double>(right[i]);
    const double apart = std::fabs(static_cast<double>(got[i]) - value);
    worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(right.size());
  return worst / std::sqrt(squares / n - sum / n * (sum / n));
}

}  // namespace biogpu::test
