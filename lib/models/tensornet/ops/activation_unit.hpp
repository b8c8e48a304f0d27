#pragma once

#include <cmath>

#include "lib/models/tensornet/ops/activate.hpp"

#ifndef BIOGPU_UNIT_FUNCTION
#define BIOGPU_UNIT_FUNCTION inline
#endif

namespace biogpu::models::tensornet {

// A unit's value and slope. gpu/models/tensornet/activate.hip makes it a device's.
template <class T>
struct UnitValue {
  T value, slope;

  BIOGPU_UNIT_FUNCTION UnitValue(Unit unit, T x) {
    const T s = 1 / (1 + std::exp(-x));
    if (unit == Unit::tanh) {
      value = std::tanh(x);
      slope = 1 - value * value;
    } else if (unit == Unit::sigmoid) {
      value = s;
      slope = s * (1 - s);
    } else if (unit == Unit::silu) {
      value = x * s;
      slope = s * (1 + x * (1 - s));
    } else {
      const T softplus = (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
      if (unit == Unit::shifted_softplus) {
        // log 2 in single precision, as torchmd-net has it in every precision.
        value = softplus - static_cast<T>(0.693147182464599609375);
        slope = s;
      } else {
        const T t = std::tanh(softplus);
        value = x * t;
        slope = t + x * (1 - t * t) * s;
      }
    }
  }
};

}  // namespace biogpu::models::tensornet
