#pragma once

#include <cmath>

namespace biogpu::ops {

// What radial_basis and its gradient need of one distance before they go through the functions.
template <class T>
struct RadialTerms {
  T scaled;         // s(d)
  T cutoff;         // c(d)
  T cutoff_slope;   // c'(d)
  T scaled_factor;  // 2 a s c

  RadialTerms(T distance, T lower, T upper) {
    constexpr T kPi = static_cast<T>(3.14159265358979323846);
    const T rate = 5 / (upper - lower);
    scaled = std::exp(rate * (lower - distance));
    const bool inside = distance < upper;
    cutoff = inside ? (std::cos(kPi / upper * distance) + 1) / 2 : 0;
    cutoff_slope = inside ? -kPi / (2 * upper) * std::sin(kPi / upper * distance) : 0;
    scaled_factor = 2 * rate * scaled * cutoff;
  }
};

}  // namespace biogpu::ops
