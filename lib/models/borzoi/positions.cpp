#include "lib/models/borzoi/positions.hpp"

#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace biogpu::models::borzoi {

std::vector<double> central_mask_features(std::int64_t n_positions, std::int64_t n_features,
                                          std::int64_t n_trained) {
  const std::int64_t n = n_features / 2;
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>((2 * n_positions - 1) * n_features));
  const auto ratio = [&](std::int64_t k) {
    return static_cast<double>(k) / static_cast<double>(n);
  };
  for (std::int64_t r = 1 - n_positions; r < n_positions; ++r) {
    const auto is_inside = [&](std::int64_t k) {
      const double width = std::pow(static_cast<double>(n_trained + 1), ratio(k)) - 1;
      return width > static_cast<double>(std::abs(r));
    };
    const double sign = r > 0 ? 1 : (r < 0 ? -1 : 0);
    for (std::int64_t k = 1; k <= n; ++k) rows.push_back(is_inside(k) ? 1 : 0);
    for (std::int64_t k = 1; k <= n; ++k) rows.push_back(is_inside(k) ? sign : 0);
  }
  return rows;
}

std::vector<float> rotary_table(std::int64_t n_positions, std::int64_t n_rotated, double base) {
  const std::int64_t half = n_rotated / 2;
  std::vector<float> table(static_cast<std::size_t>(n_positions * n_rotated));
  for (std::int64_t position = 0; position < n_positions; ++position)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) *
                           std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      float* const row = table.data() + position * n_rotated;
      row[i] = static_cast<float>(std::cos(angle));
      row[half + i] = static_cast<float>(std::sin(angle));
    }
  return table;
}

}  // namespace biogpu::models::borzoi
