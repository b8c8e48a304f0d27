#include "lib/models/proteinmpnn/graph.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace biogpu::models::proteinmpnn {
namespace {

using Point = std::array<float, 3>;
using Pair = std::pair<std::uint8_t, std::uint8_t>;

struct Candidate {
  float distance = 0;
  std::int32_t index = 0;
};

constexpr float kTiny = 1e-6f;
constexpr std::int32_t kMaxOffset = 32;

// Points of a residue: N 0, CA 1, C 2, O 3, CB 4. The order is that of the weights' columns.
constexpr std::array<Pair, 25> kBackbonePairs{
    {{1, 1}, {0, 0}, {2, 2}, {3, 3}, {4, 4}, {1, 0}, {1, 2}, {1, 3}, {1, 4},
     {0, 2}, {0, 3}, {0, 4}, {4, 2}, {4, 3}, {3, 2}, {0, 1}, {2, 1}, {3, 1},
     {4, 1}, {2, 0}, {3, 0}, {4, 0}, {2, 4}, {3, 4}, {2, 3}}};
// CA of the residue before 0, of the residue 1, of the next 2.
constexpr std::array<Pair, 9> kCaPairs{
    {{1, 1}, {0, 0}, {2, 2}, {0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}};

Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

float length(const Point& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

Point unit(const Point& a) {
  const float by = std::max(length(a), 1e-12f);
  return {a[0] / by, a[1] / by, a[2] / by};
}

float distance(const Point& a, const Point& b) {
  const Point d = a - b;
  return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kTiny);
}

float sign(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }

}  // namespace

AtomPairs atom_pairs(bool ca_only) {
  if (ca_only) return kCaPairs;
  return kBackbonePairs;
}

Geometry::Geometry(const Complex& complex, const std::vector<float>& noise)
    : ca_only_(complex.atoms == 1),
      n_(complex.n),
      n_points_(ca_only_ ? 3 : 5),
      present_(complex.present) {
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

void Geometry::find_neighbours(Graph& graph, std::int64_t begin, std::int64_t end) const {
  const auto n = static_cast<std::size_t>(n_), k = static_cast<std::size_t>(graph.k);
  std::vector<Candidate> row(n);
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    float longest = 0.0f;
    for (std::size_t j = 0; j < n; ++j) {
      const bool both = present_[i] != 0 && present_[j] != 0;
      row[j] = {both ? distance(ca_[j], ca_[i]) : 0.0f, static_cast<std::int32_t>(j)};
      longest = std::max(longest, row[j].distance);
    }
    for (std::size_t j = 0; j < n; ++j)
      if (present_[i] == 0 || present_[j] == 0) row[j].distance = longest;
    // Of equal distances the lower index is nearer: residues that are not there, which all have the
    // longest, come in the order of the chains, and before a residue at just that distance that has
    // a higher index. The GPU's keys have the same order (gpu/models/proteinmpnn/neighbours.hip).
    const auto nearer = [](const Candidate& a, const Candidate& b) {
      return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
    };
    std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(k), row.end(), nearer);
    for (std::size_t e = 0; e < k; ++e) {
      graph.distances[i * k + e] = row[e].distance;
      graph.neighbours[i * k + e] = row[e].index;
    }
  }
}

void Geometry::pair_distances(std::int64_t i, std::int64_t j, float* out) const {
  const Point* const a = points_.data() + i * n_points_;
  const Point* const b = points_.data() + j * n_points_;
  const AtomPairs pairs = atom_pairs(ca_only_);
  for (std::size_t p = 1; p < pairs.size(); ++p)
    out[p] = distance(a[pairs[p].first], b[pairs[p].second]);
}

// The direction to j in the axes at i, and the rotation between both axes as a quaternion.
void Geometry::orientation(std::int64_t i, std::int64_t j, float* out) const {
  const auto& at_i = frames_[static_cast<std::size_t>(i)];
  const auto& at_j = frames_[static_cast<std::size_t>(j)];
  const Point step = ca_[static_cast<std::size_t>(j)] - ca_[static_cast<std::size_t>(i)];
  Point direction;
  for (std::size_t r = 0; r < 3; ++r)
    direction[r] = at_i[3 * r] * step[0] + at_i[3 * r + 1] * step[1] + at_i[3 * r + 2] * step[2];
  direction = unit(direction);
  std::array<std::array<float, 3>, 3> rotation;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c)
      rotation[r][c] = at_i[r] * at_j[c] + at_i[3 + r] * at_j[3 + c] + at_i[6 + r] * at_j[6 + c];
  const float x = rotation[0][0], y = rotation[1][1], z = rotation[2][2];
  const auto half = [](float square) { return 0.5f * std::sqrt(square); };
  std::array<float, 4> q{
      sign(rotation[2][1] - rotation[1][2]) * half(std::abs(1.0f + (x - y - z))),
      sign(rotation[0][2] - rotation[2][0]) * half(std::abs(1.0f + (-x + y - z))),
      sign(rotation[1][0] - rotation[0][1]) * half(std::abs(1.0f + (-x - y + z))),
      half(std::max(0.0f, 1.0f + (x + y + z)))};
  const float norm =
      std::max(std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), 1e-12f);
  for (std::size_t d = 0; d < 3; ++d) out[d] = direction[d];
  for (std::size_t d = 0; d < 4; ++d) out[3 + d] = q[d] / norm;
}

std::int32_t position_class(const Complex& complex, std::int64_t i, std::int64_t j) {
  const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
  if (complex.chain[a] != complex.chain[b]) return 2 * kMaxOffset + 1;
  return std::clamp(complex.index[a] - complex.index[b] + kMaxOffset, 0, 2 * kMaxOffset);
}

}  // namespace biogpu::models::proteinmpnn
