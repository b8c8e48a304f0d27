#pragma once

// What the tests of Hopper's kernels share: seeded numbers of 16 bits, and how far results lie
// apart.

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gpu/ops/elements.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/rt/tensor_map.hpp"
#include "lib/tensor/float16.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

namespace biogpu::test {

using gpu::Number16;

inline std::uint16_t bits_of(float x, Number16 type) {
  return type == Number16::fp16 ? tensor::to_f16(x) : tensor::to_bf16(x);
}
inline float value_of(std::uint16_t bits, Number16 type) {
  return type == Number16::fp16 ? tensor::from_f16(bits) : tensor::from_bf16(bits);
}
inline gpu::ops::Element element_of(Number16 type) {
  return type == Number16::fp16 ? gpu::ops::Element::fp16 : gpu::ops::Element::bf16;
}

inline std::vector<float> random_values(std::size_t n, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, size);
  std::vector<float> values(n);
  for (float& x : values) x = normal(random);
  return values;
}

inline std::vector<std::uint16_t> random_bits(std::size_t n, float size, Number16 type,
                                              unsigned seed) {
  std::vector<std::uint16_t> bits;
  bits.reserve(n);
  for (const float x : random_values(n, size, seed)) bits.push_back(bits_of(x, type));
  return bits;
}

// In units of 1 + |x|; NaN where one of them is no number.
inline double difference(double x, double y) { return std::abs(x - y) / (1 + std::abs(x)); }

// The larger one, where NaN is larger than all.
inline double worse(double x, double y) { return y > x || std::isnan(y) ? y : x; }

inline double difference(const std::vector<float>& x, const std::vector<float>& y) {
  REQUIRE(x.size() == y.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size() && !std::isnan(worst); ++i)
    worst = worse(worst, difference(double{x[i]}, double{y[i]}));
  return worst;
}

// Of results that are rounded to 16 bits, each of two perhaps to another neighbour.
inline double tolerance(Number16 type) { return type == Number16::fp16 ? 1.5e-3 : 1.2e-2; }

}  // namespace biogpu::test
