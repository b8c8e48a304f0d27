#pragma once

#include <cmath>

namespace biogpu::tasks {

// The larger of two numbers; NaN where one of them is, which std::max() loses in its second one.
template <class T>
T larger_or_nan(T a, T b) {
  return a > b || std::isnan(a) ? a : b;
}

}  // namespace biogpu::tasks
