#pragma once

#include <cmath>

#ifndef BIOGPU_COULOMB_FUNCTION
#define BIOGPU_COULOMB_FUNCTION inline
#endif

namespace biogpu::models::tensornet {

// v(d) of Coulomb (charge_ops.hpp) and its slope. gpu/models/tensornet/charge_ops.hip makes it a
// device's.
template <class T>
struct CoulombPair {
  T value, slope;

  // cutoff: 0 for none.
  BIOGPU_COULOMB_FUNCTION CoulombPair(T d, T cutoff) {
    constexpr T kDamped = static_cast<T>(4.6), kDielectric = static_cast<T>(78.3);
    const T x = d / kDamped;
    T far = 1, far_slope = 0;  // 1 - D
    if (x < static_cast<T>(1 - 1e-6)) {
      const T rest = 1 - x * x;
      far = -std::expm1(-x * x / rest);
      far_slope = (1 - far) * 2 * x / (rest * rest * kDamped);
    }
    T field = 1 / d, field_slope = -1 / (d * d);
    if (cutoff > 0) {
      const T k = (kDielectric - 1) / ((2 * kDielectric + 1) * cutoff * cutoff * cutoff);
      field += k * d * d - 3 * kDielectric / ((2 * kDielectric + 1) * cutoff);
      field_slope += 2 * k * d;
    }
    value = far * field;
    slope = far_slope * field + far * field_slope;
  }
};

}  // namespace biogpu::models::tensornet
