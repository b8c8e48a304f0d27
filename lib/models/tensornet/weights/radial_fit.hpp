#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/tensornet/weights/radial_functions.hpp"

namespace biogpu::models::tensornet {

// A table of cubic polynomials (RadialTable, edge_ops.hpp) through the values and slopes of
// functions at the ends of each interval. Energy is conserved, since slopes are those of the
// polynomials.
struct RadialFit {
  std::int64_t n_intervals = 0, n_functions = 0;
  std::vector<double> coefficients;  // [n_intervals, 4, n_functions]
  double slope_error = 0;            // relative to the largest slope, as estimated
};

// Doubles the intervals until slopes are right to max_error of the largest one, or up to
// kMaxIntervals. What is checked is the middle of each interval.
inline constexpr std::int64_t kMaxIntervals = 8192;
RadialFit fit_radial(const RadialFunctions& functions, double lower, double upper,
                     double max_error);

}  // namespace biogpu::models::tensornet
