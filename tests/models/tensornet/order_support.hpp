#pragma once

// Random atoms, and the same in another order.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/models/tensornet/model_support.hpp"

namespace biogpu::test {

// Hydrogen, carbon, nitrogen and oxygen about the points of a grid, in a skew box if there is one.
inline models::AtomSystem random_system(std::size_t n, double spacing, bool has_box) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> shift(-0.3, 0.3);
  std::size_t side = 1;
  while (side * side * side < n) ++side;
  models::AtomSystem system;
  for (std::size_t i = 0; i < n; ++i) {
    constexpr std::array<std::int32_t, 4> kElements{1, 6, 7, 8};
    system.atomic_numbers.push_back(kElements[random() % 4]);
    const std::array<std::size_t, 3> place{i % side, i / side % side, i / side / side};
    // The box is skew by whole points of the grid.
    for (std::size_t k = 0; k < 3; ++k)
      system.positions.push_back(spacing * static_cast<double>(place[k]) + shift(random));
  }
  const double width = spacing * static_cast<double>(side);
  if (has_box) system.box = models::Box{width, 0, 0, spacing, width, 0, 0, -spacing, width};
  return system;
}

struct Shuffled {
  explicit Shuffled(const models::AtomSystem& from) : system(from), order(from.n_atoms()) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    for (std::size_t i = 0; i < order.size(); ++i)
      system.atomic_numbers[i] = from.atomic_numbers[static_cast<std::size_t>(order[i])];
    system.positions = of(from.positions, 3);
  }
  // Rows of `width` numbers, by the first order, by this one.
  std::vector<double> of(const std::vector<double>& numbers, std::size_t width) const {
    std::vector<double> to(numbers.size());
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = numbers[width * static_cast<std::size_t>(order[i / width]) + i % width];
    return to;
  }
  models::AtomSystem system;
  std::vector<std::int32_t> order;
};

}  // namespace biogpu::test
