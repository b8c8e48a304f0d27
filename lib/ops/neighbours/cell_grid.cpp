#include "lib/ops/neighbours/cell_grid.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::ops {
namespace {

constexpr std::int64_t kFewAtoms = 256;  // all pairs of these are compared sooner than sorted
// Wider than the cutoff by more than roundings of positions: a pair at the cutoff stays in reach.
constexpr double kMargin = 1.001;

// Where a position is in the box, as parts of a, b and c.
std::array<double, 3> fractions(const float* x, const float* box) {
  std::array<double, 3> f{};
  f[2] = static_cast<double>(x[2]) / box[8];
  f[1] = (static_cast<double>(x[1]) - f[2] * box[7]) / box[4];
  f[0] = (static_cast<double>(x[0]) - f[1] * box[3] - f[2] * box[6]) / box[0];
  return f;
}

// Distances between opposite faces of the box. It is lower triangular: its volume is ax by cz.
std::array<double, 3> heights(const float* box) {
  const double ax = box[0], bx = box[3], by = box[4], cx = box[6], cy = box[7], cz = box[8];
  return {ax * by * cz / std::hypot(by * cz, bx * cz, bx * cy - by * cx),
          by * cz / std::hypot(cz, cy), cz};
}

}  // namespace

CellGrid::CellGrid(const float* positions, std::int64_t first_atom, std::int64_t n_atoms,
                   const float* box, float cutoff)
    : box_(box) {
  if (n_atoms > kFewAtoms) choose_cells(positions, n_atoms, static_cast<double>(cutoff) * kMargin);
  sort_atoms(positions, first_atom, n_atoms);
}

void CellGrid::choose_cells(const float* positions, std::int64_t n_atoms, double cutoff) {
  if (box_ != nullptr) {
    extent_ = heights(box_);
  } else {
    std::array<double, 3> highest{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    lowest_ = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (std::int64_t i = 0; i < n_atoms; ++i)
      for (std::size_t a = 0; a < 3; ++a) {
        const double x = positions[3 * i + static_cast<std::int64_t>(a)];
        if (!std::isfinite(x)) continue;  // has no neighbours
        lowest_[a] = std::min(lowest_[a], x);
        highest[a] = std::max(highest[a], x);
      }
    for (std::size_t a = 0; a < 3; ++a) extent_[a] = std::max(highest[a] - lowest_[a], 1e-3);
  }
  // No more cells than atoms, however far apart these are.
  const double most = std::cbrt(static_cast<double>(n_atoms));
  for (std::size_t a = 0; a < 3; ++a) {
    const double fit = std::min(std::fabs(extent_[a]) / cutoff, most);
    n_cells_[a] = fit > 1 ? static_cast<std::int64_t>(fit) : 1;
  }
}

std::array<std::int64_t, 3> CellGrid::cell_of(const float* position) const {
  std::array<double, 3> f{};
  if (box_ != nullptr) {
    f = fractions(position, box_);
    for (double& part : f) part -= std::floor(part);
  } else {
    for (std::size_t a = 0; a < 3; ++a) f[a] = (position[a] - lowest_[a]) / extent_[a];
  }
  std::array<std::int64_t, 3> cell{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double at = f[a] * static_cast<double>(n_cells_[a]);
    const auto last = static_cast<double>(n_cells_[a] - 1);
    cell[a] =
        at > 0 ? static_cast<std::int64_t>(std::min(at, last)) : 0;  // 0 for what is no number
  }
  return cell;
}

void CellGrid::sort_atoms(const float* positions, std::int64_t first_atom, std::int64_t n_atoms) {
  const auto n = static_cast<std::size_t>(n_atoms);
  std::vector<std::int64_t> cells(n);
  starts_.assign(static_cast<std::size_t>(n_cells_[0] * n_cells_[1] * n_cells_[2]) + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto cell = cell_of(positions + 3 * i);
    cells[i] = (cell[2] * n_cells_[1] + cell[1]) * n_cells_[0] + cell[0];
    ++starts_[static_cast<std::size_t>(cells[i]) + 1];
  }
  for (std::size_t c = 1; c < starts_.size(); ++c) starts_[c] += starts_[c - 1];
  std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
  for (auto& axis : coordinates_) axis.resize(n);
  atoms_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(cells[i])]++);
    for (std::size_t a = 0; a < 3; ++a) coordinates_[a][slot] = positions[3 * i + a];
    atoms_[slot] = static_cast<std::int32_t>(first_atom + static_cast<std::int64_t>(i));
  }
}

void CellGrid::ranges_around(const float* position, std::vector<Range>& ranges) const {
  ranges.clear();
  const auto cell = cell_of(position);
  // The numbers of the cells next to one along an axis, each once.
  const auto near = [&](std::size_t a, std::array<std::int64_t, 3>& found) {
    const std::int64_t n = n_cells_[a];
    std::size_t count = 0;
    for (std::int64_t step = -1; step <= 1; ++step) {
      std::int64_t at = cell[a] + step;
      if (box_ != nullptr) at = (at + n) % n;
      if (at < 0 || at >= n) continue;
      if (std::find(found.begin(), found.begin() + count, at) == found.begin() + count)
        found[count++] = at;
    }
    return count;
  };
  std::array<std::array<std::int64_t, 3>, 3> at{};
  const std::array<std::size_t, 3> n{near(0, at[0]), near(1, at[1]), near(2, at[2])};
  for (std::size_t z = 0; z < n[2]; ++z)
    for (std::size_t y = 0; y < n[1]; ++y)
      for (std::size_t x = 0; x < n[0]; ++x) {
        const auto c =
            static_cast<std::size_t>((at[2][z] * n_cells_[1] + at[1][y]) * n_cells_[0] + at[0][x]);
        ranges.push_back({starts_[c], starts_[c + 1]});
      }
}

}  // namespace biogpu::ops
