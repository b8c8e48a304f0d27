#include "lib/models/potential/pair_list.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>

#include "lib/core/error.hpp"

namespace biogpu::models {
namespace {

using Shift = std::array<std::int32_t, 3>;
using Vector = std::array<double, 3>;

Vector cross(const double* a, const double* b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double length(const Vector& a) { return std::sqrt(dot(a, a.data())); }

// A grid of cells over a box, or over the atoms where there is no box.
class CellGrid {
 public:
  CellGrid(const std::vector<double>& positions, const Box* box, double radius)
      : positions_(positions), box_(box), n_(positions.size() / 3), shifts_(n_), cell_of_(n_) {
    if (box != nullptr)
      divide_box(radius);
    else
      divide_extent(radius);
    assign();
  }

  // body(atom, shift) for every atom, and image of it, that may be within the radius of atom i.
  template <class Body>
  void for_candidates(std::size_t i, const Body& body) const {
    const std::array<std::int64_t, 3> at = coordinates_[i];
    std::array<std::int64_t, 3> to{};
    for (to[0] = at[0] - reach_[0]; to[0] <= at[0] + reach_[0]; ++to[0])
      for (to[1] = at[1] - reach_[1]; to[1] <= at[1] + reach_[1]; ++to[1])
        for (to[2] = at[2] - reach_[2]; to[2] <= at[2] + reach_[2]; ++to[2]) in_cell(i, to, body);
  }

 private:
  static constexpr std::int64_t kMaxReach = 64;  // cells: 2e6 images of a box

  void limit_cells() {
    // No more cells than a few for each atom: atoms may be far apart.
    const double limit = 4.0 * static_cast<double>(n_) + 64;
    for (;;) {
      const auto [x, y, z] = size_;
      if (static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z) <= limit) return;
      std::int64_t& largest = *std::max_element(size_.begin(), size_.end());
      largest = (largest + 1) / 2;
    }
  }

  static std::int64_t cells_along(double extent, double radius) {
    return static_cast<std::int64_t>(std::clamp(std::floor(extent / radius), 1.0, 1e5));
  }

  void divide_box(double radius) {
    const Vector widths = face_distances(*box_);
    const double volume = volume_of(*box_);
    for (std::size_t k = 0; k < 3; ++k) size_[k] = cells_along(widths[k], radius);
    limit_cells();
    for (std::size_t k = 0; k < 3; ++k) {
      const double reach = std::ceil(radius * static_cast<double>(size_[k]) / widths[k]);
      if (!(reach <= static_cast<double>(kMaxReach)))
        throw Error(ErrorCode::bad_input,
                    fmt::format("the box is {:.3g} A wide, much less than the cutoff of {:.3g} A",
                                widths[k], radius));
      reach_[k] = std::max<std::int64_t>(1, static_cast<std::int64_t>(reach));
    }
    const double* const rows = box_->data();
    const Vector to_a = cross(rows + 3, rows + 6), to_b = cross(rows + 6, rows),
                 to_c = cross(rows, rows + 3);
    const double sign = dot(to_c, rows + 6) > 0 ? 1 : -1;
    for (std::size_t k = 0; k < 3; ++k) {
      inverse_[0][k] = sign * to_a[k] / volume;
      inverse_[1][k] = sign * to_b[k] / volume;
      inverse_[2][k] = sign * to_c[k] / volume;
    }
  }

  void divide_extent(double radius) {
    Vector high{};
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const double x = positions_[3 * i + k];
        low_[k] = i == 0 ? x : std::min(low_[k], x);
        high[k] = i == 0 ? x : std::max(high[k], x);
      }
    for (std::size_t k = 0; k < 3; ++k) size_[k] = cells_along(high[k] - low_[k], radius);
    limit_cells();
    for (std::size_t k = 0; k < 3; ++k) {
      // A little wider than the radius, so that rounding never puts neighbours two cells apart.
      extent_[k] = std::max(high[k] - low_[k], static_cast<double>(size_[k]) * radius) * (1 + 1e-9);
      reach_[k] = 1;
    }
  }

  void assign() {
    coordinates_.resize(n_);
    std::vector<std::int32_t> counts(static_cast<std::size_t>(size_[0] * size_[1] * size_[2]) + 1);
    for (std::size_t i = 0; i < n_; ++i) {
      const double* const x = positions_.data() + 3 * i;
      for (std::size_t k = 0; k < 3; ++k) {
        double fraction = 0;
        if (box_ != nullptr) {
          fraction = dot(inverse_[k], x);
          const double whole = std::floor(fraction);
          if (!(std::fabs(whole) < 5e8))  // shifts, as differences, stay below 2^30
            throw Error(ErrorCode::bad_input,
                        fmt::format("atom {} is too far from its box", i + 1));
          shifts_[i][k] = static_cast<std::int32_t>(whole);
          fraction -= whole;
        } else {
          fraction = (x[k] - low_[k]) / extent_[k];
        }
        coordinates_[i][k] = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(fraction * static_cast<double>(size_[k])), 0, size_[k] - 1);
      }
      cell_of_[i] = index_of(coordinates_[i]);
      ++counts[cell_of_[i] + 1];
    }
    for (std::size_t c = 1; c < counts.size(); ++c) counts[c] += counts[c - 1];
    cell_starts_ = counts;
    atoms_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
      atoms_[static_cast<std::size_t>(counts[cell_of_[i]]++)] = static_cast<std::int32_t>(i);
  }

  std::size_t index_of(const std::array<std::int64_t, 3>& at) const {
    return static_cast<std::size_t>((at[0] * size_[1] + at[1]) * size_[2] + at[2]);
  }

  template <class Body>
  void in_cell(std::size_t i, std::array<std::int64_t, 3> at, const Body& body) const {
    Shift image{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (at[k] >= 0 && at[k] < size_[k]) continue;
      if (box_ == nullptr) return;
      const std::int64_t n = at[k] < 0 ? -((size_[k] - 1 - at[k]) / size_[k]) : at[k] / size_[k];
      at[k] -= n * size_[k];
      image[k] = static_cast<std::int32_t>(n);
    }
    const std::size_t cell = index_of(at);
    for (std::int32_t slot = cell_starts_[cell]; slot < cell_starts_[cell + 1]; ++slot) {
      const auto j = static_cast<std::size_t>(atoms_[static_cast<std::size_t>(slot)]);
      // Positions are as they came: what wrapped them belongs to the shift.
      Shift shift = image;
      for (std::size_t k = 0; k < 3; ++k) shift[k] += shifts_[i][k] - shifts_[j][k];
      body(j, shift);
    }
  }

  const std::vector<double>& positions_;
  const Box* const box_;
  const std::size_t n_;
  std::array<std::int64_t, 3> size_{1, 1, 1}, reach_{1, 1, 1};  // cells
  Vector low_{}, extent_{};
  std::array<Vector, 3> inverse_{};  // fraction k is inverse_[k] . x
  std::vector<Shift> shifts_;        // whole box vectors of each atom's position
  std::vector<std::array<std::int64_t, 3>> coordinates_;
  std::vector<std::size_t> cell_of_;
  std::vector<std::int32_t> cell_starts_, atoms_;
};

struct Neighbour {
  std::int32_t atom;
  Shift shift;
  bool operator<(const Neighbour& other) const {
    return atom != other.atom ? atom < other.atom : shift < other.shift;
  }
};

std::vector<Neighbour> neighbours_of(std::size_t i, const CellGrid& grid,
                                     const std::vector<double>& positions, const Box* box,
                                     double radius) {
  std::vector<Neighbour> found;
  grid.for_candidates(i, [&](std::size_t j, const Shift& shift) {
    if (i == j && shift == Shift{}) return;
    const Vector r =
        displacement_of(positions.data() + 3 * i, positions.data() + 3 * j, shift, box);
    if (dot(r, r.data()) <= radius * radius) found.push_back({static_cast<std::int32_t>(j), shift});
  });
  std::sort(found.begin(), found.end());
  return found;
}

// Distances of such numbers, and their squares, are finite too.
void require_coordinates(const std::vector<double>& positions, const Box* box, double radius) {
  const auto fits = [](double x) { return std::fabs(x) <= 1e100; };  // not so for NaN
  if (!(radius > 0 && fits(radius)))
    throw Error(ErrorCode::bad_input,
                fmt::format("the cutoff is {}; expected a length above 0", radius));
  if (box != nullptr && !std::all_of(box->begin(), box->end(), fits))
    throw Error(ErrorCode::bad_input, "the box has a number that is not finite");
  const auto at = std::find_if_not(positions.begin(), positions.end(), fits);
  if (at != positions.end())
    throw Error(ErrorCode::bad_input, fmt::format("atom {} has a coordinate of {}",
                                                  (at - positions.begin()) / 3 + 1, *at));
}

void require_count(std::int64_t n_pairs) {
  if (n_pairs >= std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::bad_input, "more than 2147483646 pairs of atoms within the cutoff");
}

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

std::array<double, 3> displacement_of(const double* x_i, const double* x_j, const Shift& shift,
                                      const Box* box) {
  Vector r{x_i[0] - x_j[0], x_i[1] - x_j[1], x_i[2] - x_j[2]};
  if (box == nullptr) return r;
  for (std::size_t k = 0; k < 3; ++k)
    r[k] -= shift[0] * (*box)[k] + shift[1] * (*box)[3 + k] + shift[2] * (*box)[6 + k];
  return r;
}

PairList find_pairs(const std::vector<double>& positions, const Box* box, double radius) {
  require_coordinates(positions, box, radius);
  if (box != nullptr && !(volume_of(*box) > 1e-6))
    throw Error(ErrorCode::bad_input, "the box has no volume");
  PairList list;
  list.radius = radius;
  const std::size_t n = positions.size() / 3;
  const CellGrid grid(positions, box, radius);
  std::vector<std::vector<Neighbour>> found(n);
  std::atomic<std::int64_t> n_found{0};
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    require_count(n_found);  // before more memory is filled
    found[i] = neighbours_of(i, grid, positions, box, radius);
    n_found += static_cast<std::int64_t>(found[i].size());
  });
  require_count(n_found);
  const auto n_pairs = static_cast<std::size_t>(n_found.load());
  list.neighbours.reserve(n_pairs);
  if (box != nullptr) list.shifts.reserve(n_pairs);
  list.starts.reserve(n + 1);
  list.starts.push_back(0);
  for (const auto& row : found) {
    for (const Neighbour& neighbour : row) {
      list.neighbours.push_back(neighbour.atom);
      if (box != nullptr) list.shifts.push_back(neighbour.shift);
    }
    list.starts.push_back(static_cast<std::int32_t>(list.neighbours.size()));
  }
  return list;
}

}  // namespace biogpu::models
