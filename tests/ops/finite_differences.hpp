#pragma once

// Gradients of references checked by central differences in double precision.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <vector>

#include "lib/tensor/tensor.hpp"
#include "tests/support/worse_of.hpp"

namespace biogpu::test {

// Numbers in double precision, which references take in place of fp32.
struct Doubles {
  std::vector<double> values;
  std::vector<std::int64_t> extents;

  Doubles(std::initializer_list<std::int64_t> shape, double size, unsigned seed) : extents(shape) {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, size);
    for (std::int64_t i = 0; i < n; ++i) values.push_back(size == 0 ? 0 : normal(random));
  }
  tensor::Tensor tensor() {
    tensor::Tensor view(values.data(), tensor::DType::f64, {1});
    view.rank = static_cast<int>(extents.size());
    std::int64_t step = 1;
    for (std::size_t a = extents.size(); a-- > 0;) {
      view.shape[a] = extents[a];
      view.stride[a] = step;
      step *= extents[a];
    }
    return view;
  }
};

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The largest difference between a gradient of loss() by x and central differences, relative to the
// gradient's largest number. loss() reads x, which is put back. About 1e-9 where all is right.
template <class Loss>
double gradient_error(std::vector<double>& x, const std::vector<double>& gradient, Loss&& loss) {
  constexpr double kStep = 1e-5;
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double kept = x[i];
    x[i] = kept + kStep;
    const double above = loss();
    x[i] = kept - kStep;
    const double below = loss();
    x[i] = kept;
    worst = test::worse_of(worst, std::fabs((above - below) / (2 * kStep) - gradient[i]));
    largest = std::max(largest, std::fabs(gradient[i]));
  }
  return largest > 0 ? worst / largest : HUGE_VAL;
}

}  // namespace biogpu::test
