#include "lib/models/enformer/positional_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models::enformer {
namespace {

constexpr double kMinHalfLifeLog2 = 3;
constexpr double kGammaFloor = 1e-8;

double linspace(double first, double last, std::int64_t n, std::int64_t i) {
  return n == 1 ? first
                : first + (last - first) * static_cast<double>(i) / static_cast<double>(n - 1);
}

// Density of a gamma distribution, by logarithms, as its powers overflow.
double gamma_density(double x, double mean, double stddev) {
  const double concentration = (mean / stddev) * (mean / stddev);
  const double rate = mean / (stddev * stddev);
  if (x == 0) return 0;  // the concentration is 4 or more
  const double log_density = (concentration - 1) * std::log(x) - rate * x;
  const double log_norm = std::lgamma(concentration) - concentration * std::log(rate);
  return std::exp(log_density - log_norm);
}

// [L][F], of distances from 0.
std::vector<double> gamma_rows(std::int64_t length, std::int64_t n, GammaForm form) {
  std::vector<double> rows(static_cast<std::size_t>(length * n));
  const double l = static_cast<double>(length), stddev = l / (2 * static_cast<double>(n));
  for (std::int64_t r = 0; r < length; ++r)
    for (std::int64_t k = 0; k < n; ++k)
      rows[static_cast<std::size_t>(r * n + k)] =
          gamma_density(static_cast<double>(r), linspace(l / static_cast<double>(n), l, n, k),
                        stddev) +
          kGammaFloor;
  const auto divide = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
    double largest = 0;
    for (std::int64_t i = 0; i < count; ++i)
      largest = std::max(largest, rows[static_cast<std::size_t>(first + i * step)]);
    for (std::int64_t i = 0; i < count; ++i)
      rows[static_cast<std::size_t>(first + i * step)] /= largest;
  };
  if (form == GammaForm::positions)
    for (std::int64_t k = 0; k < n; ++k) divide(k, n, length);
  else
    for (std::int64_t r = 0; r < length; ++r) divide(r * n, 1, n);
  return rows;
}

}  // namespace

const char* name_of(GammaForm form) {
  switch (form) {
    case GammaForm::tf_table:
      return "tf-table";
    case GammaForm::positions:
      return "positions";
    case GammaForm::features:
      break;
  }
  return "features";
}

GammaForm parse_gamma_form(std::string_view name) {
  for (const GammaForm form : {GammaForm::tf_table, GammaForm::positions, GammaForm::features})
    if (name == name_of(form)) return form;
  throw Error(ErrorCode::usage, fmt::format("gamma is {}; expected tf-table, positions or features",
                                            biogpu::quoted(std::string(name))));
}

std::vector<double> PositionalFeatures::compute() const {
  const std::int64_t n = n_features / (2 * kFeatureClasses), n_rows = 2 * n_positions - 1;
  const bool stored = gamma == GammaForm::tf_table;
  const std::vector<double> gammas =
      stored ? std::vector<double>() : gamma_rows(n_positions, n, gamma);
  const double max_log2 = std::log2(static_cast<double>(n_positions));
  std::vector<double> all(static_cast<std::size_t>(n_rows * n_features));
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const std::int64_t r = i - (n_positions - 1), distance = std::abs(r);
    double* const row = all.data() + i * n_features;
    for (std::int64_t k = 0; k < n; ++k) {
      const double half_life = std::exp2(linspace(kMinHalfLifeLog2, max_log2, n, k));
      row[k] = std::exp2(-static_cast<double>(distance) / half_life);
      row[n + k] = std::exp2(static_cast<double>(k + 1)) - 1 > static_cast<double>(distance);
      row[2 * n + k] = stored ? static_cast<double>(table[i * n + k])
                              : gammas[static_cast<std::size_t>(distance * n + k)];
    }
    const double sign = r > 0 ? 1 : (r < 0 ? -1 : 0);
    for (std::int64_t k = 0; k < n_features / 2; ++k) row[n_features / 2 + k] = sign * row[k];
  }
  return all;
}

}  // namespace biogpu::models::enformer
