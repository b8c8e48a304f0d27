#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "lib/models/potential/pair_list.hpp"

namespace biogpu::models::tensornet {

// Displacements in a box as torchmd-net shortens them: by whole vectors c, then b, then a, each by
// the direction that the vectors after it do not have. In a box that leans this is not always the
// shortest one. The result of the opposite displacement is the opposite one.
class NearestImage {
 public:
  using Vector = std::array<double, 3>;

  explicit NearestImage(const Box& box) {
    // By Gram and Schmidt: a, b without a, c without both.
    for (std::size_t k = 0; k < 3; ++k) {
      std::copy_n(box.data() + 3 * k, 3, rows_[k].begin());
      Vector rest = rows_[k];
      for (std::size_t before = 0; before < k; ++before)
        subtract(rest, dot(rows_[k], axes_[before]), rests_[before]);
      const double squares = dot(rest, rest);
      for (std::size_t d = 0; d < 3; ++d) axes_[k][d] = rest[d] / squares;
      rests_[k] = rest;
    }
  }

  Vector shortened(Vector r) const {
    for (std::size_t k = 3; k-- > 0;) subtract(r, std::nearbyint(dot(r, axes_[k])), rows_[k]);
    return r;
  }

 private:
  static double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  static void subtract(Vector& from, double factor, const Vector& what) {
    for (std::size_t d = 0; d < 3; ++d) from[d] -= factor * what[d];
  }

  std::array<Vector, 3> rows_{}, rests_{};
  std::array<Vector, 3>
      axes_{};  // rests by their squares: a vector's share along them is a product
};

}  // namespace biogpu::models::tensornet
