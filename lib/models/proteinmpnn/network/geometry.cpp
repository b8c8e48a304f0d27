#include "lib/models/proteinmpnn/network/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::models::proteinmpnn {
namespace {

using Point = std::array<float, 3>;

// Points of a residue: N 0, CA 1, C 2, O 3, CB 4. The order is that of the weights' columns.
constexpr PointPair kBackbonePairs[] = {{1, 1}, {0, 0}, {2, 2}, {3, 3}, {4, 4}, {1, 0}, {1, 2},
                                        {1, 3}, {1, 4}, {0, 2}, {0, 3}, {0, 4}, {4, 2}, {4, 3},
                                        {3, 2}, {0, 1}, {2, 1}, {3, 1}, {4, 1}, {2, 0}, {3, 0},
                                        {4, 0}, {2, 4}, {3, 4}, {2, 3}};
// CA of the residue before 0, of the residue 1, of the next 2.
constexpr PointPair kCaPairs[] = {{1, 1}, {0, 0}, {2, 2}, {0, 1}, {0, 2},
                                  {1, 0}, {1, 2}, {2, 0}, {2, 1}};

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

float length(const Point& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

Point unit(const Point& a) {
  const float by = std::max(length(a), 1e-12f);
  return {a[0] / by, a[1] / by, a[2] / by};
}

}  // namespace

std::span<const PointPair> point_pairs(bool ca_only) {
  if (ca_only) return kCaPairs;
  return kBackbonePairs;
}

Geometry::Geometry(const Complex& complex, const std::vector<float>& noise)
    : ca_only_(complex.atoms == 1), n_(complex.n), n_points_(ca_only_ ? 3 : 5) {
  std::vector<float> xyz = complex.coordinates;
  for (std::size_t i = 0; i < noise.size(); ++i) xyz[i] += noise[i];
  add_virtual_atoms(complex, xyz);
  if (ca_only_) add_frames();
}

void Geometry::add_virtual_atoms(const Complex& complex, const std::vector<float>& xyz) {
  const auto n = static_cast<std::size_t>(n_), atoms = static_cast<std::size_t>(complex.atoms);
  const auto atom = [&](std::size_t i, std::size_t a) {
    const float* const at = xyz.data() + 3 * (i * atoms + a);
    return Point{at[0], at[1], at[2]};
  };
  for (std::size_t i = 0; i < n; ++i) ca_.push_back(atom(i, ca_only_ ? 0 : 1));
  for (std::size_t i = 0; i < n; ++i) {
    if (ca_only_) {
      points_.push_back(i == 0 ? Point{} : ca_[i - 1]);
      points_.push_back(ca_[i]);
      points_.push_back(i + 1 == n ? Point{} : ca_[i + 1]);
      continue;
    }
    const Point b = atom(i, 1) - atom(i, 0), c = atom(i, 2) - atom(i, 1), a = cross(b, c);
    Point cb;
    for (std::size_t d = 0; d < 3; ++d)
      cb[d] = -0.58273431f * a[d] + 0.56802827f * b[d] - 0.54067466f * c[d] + ca_[i][d];
    for (std::size_t p = 0; p < 4; ++p) points_.push_back(atom(i, p));
    points_.push_back(cb);
  }
}

// Axes from three steps between CA atoms: the first residue and the last two have none, nor has any
// next to a step that is no peptide bond.
void Geometry::add_frames() {
  const auto n = static_cast<std::size_t>(n_);
  frames_.assign(n, {});
  std::vector<Point> steps(n, Point{});
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const Point step = ca_[i + 1] - ca_[i];
    const float by = length(step);
    if (by > 3.6f && by < 4.0f) steps[i] = unit(step);
  }
  for (std::size_t i = 0; i + 3 < n; ++i) {
    const Point first = unit(steps[i] - steps[i + 1]);
    const Point normal = unit(cross(steps[i], steps[i + 1]));
    const Point third = cross(first, normal);
    auto& frame = frames_[i + 1];
    for (std::size_t d = 0; d < 3; ++d) {
      frame[d] = first[d];
      frame[3 + d] = normal[d];
      frame[6 + d] = third[d];
    }
  }
}

}  // namespace biogpu::models::proteinmpnn
