#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "lib/ops/activation.hpp"

namespace biogpu::ops::reference {

inline double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::gelu_erf:
      return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_sigmoid:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::gelu_tanh:
      return x * 0.5 *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::softplus:
      return x > 20 ? x : std::log1p(std::exp(x));
  }
  return x;
}

// One result of operations that give it as it is and as the next layer reads it. Where `out` is
// given, the next layer reads y unrounded, as on devices.
inline void store(const tensor::Tensor& out, const Activated& activated, std::int64_t row,
                  std::int64_t channel, double y) {
  if (!out.empty()) out.row<float>(row)[channel] = static_cast<float>(y);
  if (activated.out.empty()) return;
  const double scale = activated.scale.empty() ? 1 : activated.scale.as<float>()[channel];
  const double shift = activated.shift.empty() ? 0 : activated.shift.as<float>()[channel];
  activated.out.row<float>(row)[channel] =
      static_cast<float>(activate(activated.activation, y * scale + shift));
}

}  // namespace biogpu::ops::reference
