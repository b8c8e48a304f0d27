#include "lib/models/tensornet/order/curve.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace biogpu::models::tensornet {
namespace {

// Three bits, one an axis; turned so that the bit of axis k is that of axis k + steps.
constexpr std::uint32_t turned(std::uint32_t bits, std::uint32_t steps) {
  return ((bits << steps) | (bits >> (3 - steps))) & 7;
}

// Through the eight octants of a cube the curve follows the Gray code; it enters each octant at a
// corner and leaves along an axis, so that it meets the next.
constexpr std::array<std::uint32_t, 8> kEntry{0, 0, 0, 3, 3, 6, 6, 5};
constexpr std::array<std::uint32_t, 8> kAxis{0, 1, 1, 2, 2, 1, 1, 0};

// State of a cube: 3 entry + axis, for the corner where the curve enters and the axis along which
// it leaves. For a state and an octant: the octant's index on the curve, and the state in it.
struct Step {
  std::uint8_t index, next;
};
constexpr std::array<std::array<Step, 8>, 24> make_steps() {
  std::array<std::array<Step, 8>, 24> steps{};
  for (std::uint32_t cube = 0; cube < 24; ++cube) {
    const std::uint32_t entry = cube / 3, axis = cube % 3, turns = (axis + 1) % 3;
    for (std::uint32_t octant = 0; octant < 8; ++octant) {
      const std::uint32_t gray = turned(octant ^ entry, (3 - turns) % 3);
      const std::uint32_t index = gray ^ gray >> 1 ^ gray >> 2;
      const std::uint32_t next_entry = entry ^ turned(kEntry[index], turns),
                          next_axis = (axis + kAxis[index] + 1) % 3;
      steps[cube][octant] = {static_cast<std::uint8_t>(index),
                             static_cast<std::uint8_t>(3 * next_entry + next_axis)};
    }
  }
  return steps;
}
constexpr std::array<std::array<Step, 8>, 24> kSteps = make_steps();

// Coordinates of atoms in lengths of the longest side, from 0 to 1.
class UnitCube {
 public:
  UnitCube(const std::vector<double>& positions, const ops::Box* box) {
    if (box != nullptr) {
      rows_ = ops::inverse_of(*box);
      wraps_ = true;
      sides_ = ops::face_distances(*box);
    } else {
      lowest_ = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
      std::array<double, 3> highest{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
      for (std::size_t k = 0; k < positions.size(); ++k) {
        lowest_[k % 3] = std::min(lowest_[k % 3], positions[k]);
        highest[k % 3] = std::max(highest[k % 3], positions[k]);
      }
      for (std::size_t k = 0; k < 3; ++k) sides_[k] = highest[k] - lowest_[k];
    }
    longest_ = std::max({sides_[0], sides_[1], sides_[2]});
  }

  std::array<double, 3> operator()(const double* x) const {
    std::array<double, 3> place{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (wraps_) {
        const double part = rows_[k][0] * x[0] + rows_[k][1] * x[1] + rows_[k][2] * x[2];
        place[k] = (part - std::floor(part)) * sides_[k] / longest_;
      } else {
        place[k] = (x[k] - lowest_[k]) / longest_;
      }
    }
    return place;
  }

 private:
  std::array<std::array<double, 3>, 3> rows_{};
  bool wraps_ = false;
  std::array<double, 3> lowest_{}, sides_{};
  double longest_ = 1;
};

// Of 2^kCurveBits; 0 for a place that is no number, as of atoms that are all at one place.
std::uint32_t cell_of(double place) {
  constexpr double kCells = std::uint32_t{1} << kCurveBits;
  const double cell = place * kCells;
  if (!(cell > 0)) return 0;
  return static_cast<std::uint32_t>(std::min(cell, kCells - 1));
}

}  // namespace

std::uint64_t curve_index(std::array<std::uint32_t, 3> cell, int bits) {
  std::uint64_t index = 0;
  std::size_t cube = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    const std::uint32_t octant =
        (cell[0] >> bit & 1) | (cell[1] >> bit & 1) << 1 | (cell[2] >> bit & 1) << 2;
    const Step& step = kSteps[cube][octant];
    index = index << 3 | step.index;
    cube = step.next;
  }
  return index;
}

std::vector<std::int32_t> curve_order(const std::vector<double>& positions, const ops::Box* box) {
  const UnitCube cube(positions, box);
  const std::size_t n = positions.size() / 3;
  std::vector<std::pair<std::uint64_t, std::int32_t>> places(n);
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    const std::array<double, 3> place = cube(positions.data() + 3 * i);
    places[i] = {curve_index({cell_of(place[0]), cell_of(place[1]), cell_of(place[2])}),
                 static_cast<std::int32_t>(i)};
  });
  std::sort(places.begin(), places.end());
  std::vector<std::int32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = places[i].second;
  return order;
}

}  // namespace biogpu::models::tensornet
