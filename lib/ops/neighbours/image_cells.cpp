#include "lib/ops/neighbours/image_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"

namespace biogpu::ops {
namespace {

std::int64_t cells_along(double extent, double radius) {
  return static_cast<std::int64_t>(std::clamp(std::floor(extent / radius), 1.0, 1e5));
}

// A box so narrow would have millions of images of itself.
void require_reach(double width, double radius) {
  if (!(std::ceil(radius * kCellMargin / width) <= kMaxImages))
    throw Error(ErrorCode::bad_input,
                fmt::format("the box is {:.3g} A wide, much less than the cutoff of {:.3g} A",
                            width, radius));
}

double part_of(const double* x, const std::array<double, 3>& inverse) {
  return inverse[0] * x[0] + inverse[1] * x[1] + inverse[2] * x[2];
}

std::int32_t whole_part(double fraction, std::size_t atom) {
  const double whole = std::floor(fraction);
  if (!(std::fabs(whole) < 5e8))  // shifts, as differences, stay below 2^30
    throw Error(ErrorCode::bad_input, fmt::format("atom {} is too far from its box", atom + 1));
  return static_cast<std::int32_t>(whole);
}

}  // namespace

void require_images(const double* positions, std::size_t n_atoms, const Box& box, double radius) {
  for (const double width : face_distances(box)) require_reach(width, radius);
  const auto inverse = inverse_of(box);
  for (std::size_t i = 0; i < n_atoms; ++i)
    for (const auto& row : inverse) whole_part(part_of(positions + 3 * i, row), i);
}

ImageCells::ImageCells(const double* positions, std::size_t n_atoms, const Box* box, double radius)
    : positions_(positions), box_(box), n_(n_atoms), shifts_(n_), cell_of_(n_) {
  if (box != nullptr)
    divide_box(radius);
  else
    divide_extent(radius);
  assign();
}

void ImageCells::limit_cells() {
  // No more cells than a few for each atom: atoms may be far apart.
  const double limit = 4.0 * static_cast<double>(n_) + 64;
  for (;;) {
    const auto [x, y, z] = size_;
    if (static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z) <= limit) return;
    std::int64_t& largest = *std::max_element(size_.begin(), size_.end());
    largest = (largest + 1) / 2;
  }
}

void ImageCells::divide_box(double radius) {
  const std::array<double, 3> widths = face_distances(*box_);
  for (std::size_t k = 0; k < 3; ++k) size_[k] = cells_along(widths[k], radius * kCellMargin);
  limit_cells();
  for (std::size_t k = 0; k < 3; ++k) {
    require_reach(widths[k], radius);
    reach_[k] = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(
               std::ceil(radius * kCellMargin * static_cast<double>(size_[k]) / widths[k])));
  }
  inverse_ = inverse_of(*box_);
}

void ImageCells::divide_extent(double radius) {
  std::array<double, 3> high{};
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

std::int64_t ImageCells::count_candidates(std::int64_t most) const {
  std::int64_t count = 0;
  for (std::size_t cell = 0; cell + 1 < cell_starts_.size() && count <= most; ++cell) {
    const std::int64_t n = cell_starts_[cell + 1] - cell_starts_[cell];
    if (n == 0) continue;
    std::int64_t around = 0;
    for_cells(static_cast<std::size_t>(atoms_[static_cast<std::size_t>(cell_starts_[cell])]),
              [&](std::size_t other, const BoxShift&) {
                around += cell_starts_[other + 1] - cell_starts_[other];
              });
    count += n * around;
  }
  return count;
}

void ImageCells::assign() {
  coordinates_.resize(n_);
  std::vector<std::int32_t> counts(static_cast<std::size_t>(size_[0] * size_[1] * size_[2]) + 1);
  for (std::size_t i = 0; i < n_; ++i) {
    const double* const x = positions_ + 3 * i;
    for (std::size_t k = 0; k < 3; ++k) {
      double fraction = 0;
      if (box_ != nullptr) {
        fraction = part_of(x, inverse_[k]);
        shifts_[i][k] = whole_part(fraction, i);
        fraction -= shifts_[i][k];
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

}  // namespace biogpu::ops
