#pragma once

#include <algorithm>
#include <cmath>

namespace biogpu::test {

// The larger of two differences; one that is no number is infinite, where std::max would drop it.
inline double worse_of(double worst, double apart) {
  return std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
}

}  // namespace biogpu::test
