#pragma once

// Distances and functions for tests of radial functions.

#include <cmath>
#include <vector>

#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

constexpr float kLower = 0.5f, kUpper = 5.0f;

// 0, inside, on and past the cutoff.
inline std::vector<float> distances() {
  std::vector<float> all{0, 1e-4f, kLower, kUpper, kUpper + 1, 40};
  for (int i = 1; i < 60; ++i) all.push_back(static_cast<float>(i) * 0.09f);
  return all;
}

// means and betas as torchmd-net begins with them, some of them moved.
inline std::vector<float> radial_means(std::int64_t n) {
  std::vector<float> means;
  const float first = std::exp(kLower - kUpper);
  for (std::int64_t k = 0; k < n; ++k)
    means.push_back(first + (1 - first) * static_cast<float>(k) / static_cast<float>(n) * 1.1f);
  return means;
}
inline std::vector<float> radial_betas(std::int64_t n) {
  std::vector<float> betas;
  for (std::int64_t k = 0; k < n; ++k) {
    const float width = 2.0f / static_cast<float>(n) * (1 - std::exp(kLower - kUpper));
    betas.push_back(std::pow(width, -2.0f) * (1 + 0.01f * static_cast<float>(k)));
  }
  return betas;
}

}  // namespace biogpu::test
