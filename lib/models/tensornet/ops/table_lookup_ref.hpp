#pragma once

#include <algorithm>
#include <cstdint>

namespace biogpu::models::tensornet {

// Position of a distance in a table of functions (RadialTable, edge_ops.hpp), in double precision,
// for references; inside is false where functions are 0.
struct TableLookupRef {
  bool inside;
  std::int64_t interval;
  double t;      // 0 to 1
  double scale;  // intervals in one unit of distance

  TableLookupRef(double distance, double lower, double upper, std::int64_t n_intervals)
      : inside(distance >= lower), scale(static_cast<double>(n_intervals) / (upper - lower)) {
    const double at = (distance - lower) * scale;
    interval = std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, n_intervals - 1);
    t = at - static_cast<double>(interval);
  }

  // Of function c out of n, whose coefficients begin at a, and its slope by the distance.
  template <class T>
  double value(const T* a, std::int64_t c, std::int64_t n) const {
    if (!inside) return 0;
    return a[c] + t * (a[n + c] + t * (a[2 * n + c] + t * a[3 * n + c]));
  }
  template <class T>
  double slope(const T* a, std::int64_t c, std::int64_t n) const {
    if (!inside) return 0;
    return scale * (a[n + c] + t * (2.0 * a[2 * n + c] + t * 3.0 * a[3 * n + c]));
  }
};

}  // namespace biogpu::models::tensornet
