#include "lib/models/tensornet/weights/radial_fit.hpp"

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"

namespace biogpu::models::tensornet {
namespace {

// Values and slopes of all functions at the ends of intervals.
struct Knots {
  std::vector<double> values, slopes;  // [n + 1, functions]
};

std::vector<double> places(double lower, double step, std::int64_t first, std::int64_t by,
                           std::int64_t end) {
  std::vector<double> all;
  for (std::int64_t i = first; i < end; i += by)
    all.push_back(lower + step * static_cast<double>(i));
  return all;
}

// The functions at all these places. Throws Error{bad_input} where one is not finite.
Knots knots_at(const RadialFunctions& functions, const std::vector<double>& distances) {
  Knots knots;
  functions.evaluate(distances, knots.values, knots.slopes);
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(knots.values.begin(), knots.values.end(), finite) ||
      !std::all_of(knots.slopes.begin(), knots.slopes.end(), finite))
    throw Error(ErrorCode::bad_input,
                "the model's functions of distances are not finite within its cutoff; expected "
                "weights of a trained model");
  return knots;
}

// Every other knot is a new one.
Knots interleave(const Knots& knots, const Knots& middles, std::size_t n_functions) {
  Knots all;
  const auto append = [&](const Knots& from, std::size_t row) {
    const auto begin = static_cast<std::ptrdiff_t>(row * n_functions),
               end = begin + static_cast<std::ptrdiff_t>(n_functions);
    all.values.insert(all.values.end(), from.values.begin() + begin, from.values.begin() + end);
    all.slopes.insert(all.slopes.end(), from.slopes.begin() + begin, from.slopes.begin() + end);
  };
  const std::size_t n = middles.values.size() / n_functions;
  for (std::size_t i = 0; i < n; ++i) {
    append(knots, i);
    append(middles, i);
  }
  append(knots, n);
  return all;
}

// The error of a cubic through both ends is f'''' h^4 / 384 in the middle, and its slope's at most
// 3.0792 / h times that.
double slope_error_of(const Knots& knots, const Knots& middles, double step,
                      std::size_t n_functions) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < middles.values.size(); ++i) {
    const std::size_t next = i + n_functions;
    const double middle = (knots.values[i] + knots.values[next]) / 2 +
                          step * (knots.slopes[i] - knots.slopes[next]) / 8;
    worst = std::max(worst, std::fabs(middle - middles.values[i]));
    largest = std::max(largest, std::fabs(knots.slopes[i]));
  }
  return largest > 0 ? 3.0792 / step * worst / largest : 0;
}

void make_polynomials(const Knots& knots, double step, RadialFit& fit) {
  const auto n = static_cast<std::size_t>(fit.n_functions);
  fit.coefficients.resize(static_cast<std::size_t>(fit.n_intervals) * 4 * n);
  for (std::size_t k = 0; k < static_cast<std::size_t>(fit.n_intervals); ++k)
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t here = k * n + c, next = here + n;
      const double rise = knots.values[next] - knots.values[here];
      const double m0 = step * knots.slopes[here], m1 = step * knots.slopes[next];
      double* const a = fit.coefficients.data() + 4 * k * n + c;
      a[0] = knots.values[here];
      a[n] = m0;
      a[2 * n] = 3 * rise - 2 * m0 - m1;
      a[3 * n] = m0 + m1 - 2 * rise;
    }
}

}  // namespace

RadialFit fit_radial(const RadialFunctions& functions, double lower, double upper,
                     double max_error) {
  RadialFit fit;
  fit.n_functions = functions.n_functions();
  fit.n_intervals = 256;
  const auto n_functions = static_cast<std::size_t>(fit.n_functions);
  double step = (upper - lower) / static_cast<double>(fit.n_intervals);
  Knots knots = knots_at(functions, places(lower, step, 0, 1, fit.n_intervals + 1));
  for (;;) {
    const Knots middles = knots_at(functions, places(lower, step / 2, 1, 2, 2 * fit.n_intervals));
    fit.slope_error = slope_error_of(knots, middles, step, n_functions);
    if (fit.slope_error <= max_error || fit.n_intervals >= kMaxIntervals) break;
    knots = interleave(knots, middles, n_functions);
    fit.n_intervals *= 2;
    step /= 2;
  }
  make_polynomials(knots, step, fit);
  return fit;
}

}  // namespace biogpu::models::tensornet
