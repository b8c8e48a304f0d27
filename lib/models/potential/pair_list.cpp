#include "lib/models/potential/pair_list.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>

#include "lib/core/error.hpp"
#include "lib/ops/neighbours/image_cells.hpp"

namespace biogpu::models {
namespace {

using Shift = ops::BoxShift;

// Atoms in a cubic Angstrom. Diamond has 0.18, and hydrogen in the middle of Jupiter not much more
// than the second number.
constexpr double kUsualDensity = 0.5, kMaxDensity = 4;

struct Neighbour {
  std::int32_t atom;
  Shift shift;
  bool operator<(const Neighbour& other) const {
    return atom != other.atom ? atom < other.atom : shift < other.shift;
  }
};

std::vector<Neighbour> neighbours_of(std::size_t i, const ops::ImageCells& grid,
                                     const std::vector<double>& positions, const Box* box,
                                     double radius) {
  std::vector<Neighbour> found;
  grid.for_candidates(i, [&](std::size_t j, const Shift& shift) {
    if (i == j && shift == Shift{}) return;
    const std::array<double, 3> r =
        displacement_of(positions.data() + 3 * i, positions.data() + 3 * j, shift, box);
    if (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= radius * radius)
      found.push_back({static_cast<std::int32_t>(j), shift});
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
  if (box != nullptr && !(volume_of(*box) > 1e-6))
    throw Error(ErrorCode::bad_input, "the box has no volume");
}

void require_count(std::int64_t n_pairs) {
  if (n_pairs >= std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::bad_input, "more than 2147483646 pairs of atoms within the cutoff");
}

}  // namespace

void require_pairs(const std::vector<double>& positions, const Box* box, double radius) {
  require_coordinates(positions, box, radius);
  if (box != nullptr) ops::require_images(positions.data(), positions.size() / 3, *box, radius);
}

void require_density(const std::vector<double>& positions, const Box* box, double radius) {
  require_coordinates(positions, box, radius);
  const std::size_t n = positions.size() / 3;
  const ops::ImageCells grid(positions.data(), n, box, radius);
  const double cube = static_cast<double>(n) * radius * radius * radius;
  // Cells are as wide as the radius: an atom has 27 cells around it.
  const auto usual = static_cast<std::int64_t>(27 * kUsualDensity * cube);
  if (grid.count_candidates(usual) <= usual) return;
  const auto most = static_cast<std::int64_t>(4.18879 * kMaxDensity * cube);
  std::int64_t n_pairs = 0;
  for (std::size_t i = 0; i < n && n_pairs <= most; ++i)
    grid.for_candidates(i, [&](std::size_t j, const Shift& shift) {
      const std::array<double, 3> r =
          displacement_of(positions.data() + 3 * i, positions.data() + 3 * j, shift, box);
      n_pairs += r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= radius * radius;
    });
  if (n_pairs > most)
    throw Error(ErrorCode::bad_input,
                fmt::format("more than {} neighbours an atom within the cutoff of {:.3g} A, as "
                            "no matter has; are lengths in Angstrom?",
                            most / static_cast<std::int64_t>(n), radius));
}

PairList find_pairs(const std::vector<double>& positions, const Box* box, double radius) {
  require_coordinates(positions, box, radius);
  PairList list;
  list.radius = radius;
  const std::size_t n = positions.size() / 3;
  const ops::ImageCells grid(positions.data(), n, box, radius);
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
