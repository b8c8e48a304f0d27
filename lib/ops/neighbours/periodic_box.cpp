#include "lib/ops/neighbours/periodic_box.hpp"

#include <cmath>

namespace biogpu::ops {
namespace {

using Vector = std::array<double, 3>;

Vector cross(const double* a, const double* b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double length(const Vector& a) { return std::sqrt(dot(a, a.data())); }

}  // namespace

double volume_of(const Box& box) {
  return std::fabs(dot(cross(box.data(), box.data() + 3), box.data() + 6));
}

std::array<double, 3> face_distances(const Box& box) {
  const double* const rows = box.data();
  const double volume = volume_of(box);
  return {volume / length(cross(rows + 3, rows + 6)), volume / length(cross(rows + 6, rows)),
          volume / length(cross(rows, rows + 3))};
}

std::array<double, 3> displacement_of(const double* x_i, const double* x_j, const BoxShift& shift,
                                      const Box* box) {
  Vector r{x_i[0] - x_j[0], x_i[1] - x_j[1], x_i[2] - x_j[2]};
  if (box == nullptr) return r;
  for (std::size_t k = 0; k < 3; ++k)
    r[k] -= shift[0] * (*box)[k] + shift[1] * (*box)[3 + k] + shift[2] * (*box)[6 + k];
  return r;
}

std::array<Vector, 3> inverse_of(const Box& box) {
  const double* const rows = box.data();
  const double volume = volume_of(box);
  std::array<Vector, 3> inverse{cross(rows + 3, rows + 6), cross(rows + 6, rows),
                                cross(rows, rows + 3)};
  const double sign = dot(inverse[2], rows + 6) > 0 ? 1 : -1;
  for (Vector& row : inverse)
    for (double& x : row) x = sign * x / volume;
  return inverse;
}

}  // namespace biogpu::ops
