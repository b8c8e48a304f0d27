#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/ops/neighbours/image_limits.hpp"
#include "lib/ops/neighbours/periodic_box.hpp"

namespace biogpu::ops {

// Throws Error{bad_input} where the box is much narrower than the radius, or an atom too far from
// it, as ImageCells does: for lists that are not made with ImageCells. positions: [n, 3].
void require_images(const double* positions, std::size_t n_atoms, const Box& box, double radius);

// A grid of cells over a box, or over the atoms where there is no box: the atoms, and images of
// them, that may be within a radius of an atom. Atoms may be outside of their box.
class ImageCells {
 public:
  // positions: [n, 3] of finite numbers, not owned; box: null where there is none. Throws
  // as require_images().
  ImageCells(const double* positions, std::size_t n_atoms, const Box* box, double radius);

  // body(atom, shift) for every atom, and image of it, that may be within the radius of atom i: the
  // atom itself too.
  template <class Body>
  void for_candidates(std::size_t i, const Body& body) const {
    for_cells(i, [&](std::size_t cell, const BoxShift& image) { in_cell(i, cell, image, body); });
  }

  // How many those are, over all atoms, in time of the number of cells; counting stops beyond most.
  std::int64_t count_candidates(std::int64_t most) const;

 private:
  // body(cell, image) for the cells around atom i.
  template <class Body>
  void for_cells(std::size_t i, const Body& body) const {
    const std::array<std::int64_t, 3> at = coordinates_[i];
    std::array<std::int64_t, 3> to{};
    for (to[0] = at[0] - reach_[0]; to[0] <= at[0] + reach_[0]; ++to[0])
      for (to[1] = at[1] - reach_[1]; to[1] <= at[1] + reach_[1]; ++to[1])
        for (to[2] = at[2] - reach_[2]; to[2] <= at[2] + reach_[2]; ++to[2]) at_cell(to, body);
  }

  void limit_cells();
  void divide_box(double radius);
  void divide_extent(double radius);
  void assign();

  std::size_t index_of(const std::array<std::int64_t, 3>& at) const {
    return static_cast<std::size_t>((at[0] * size_[1] + at[1]) * size_[2] + at[2]);
  }

  template <class Body>
  void at_cell(std::array<std::int64_t, 3> at, const Body& body) const {
    BoxShift image{};
    for (std::size_t k = 0; k < 3; ++k) {
      if (at[k] >= 0 && at[k] < size_[k]) continue;
      if (box_ == nullptr) return;
      const std::int64_t n = at[k] < 0 ? -((size_[k] - 1 - at[k]) / size_[k]) : at[k] / size_[k];
      at[k] -= n * size_[k];
      image[k] = static_cast<std::int32_t>(n);
    }
    body(index_of(at), image);
  }

  template <class Body>
  void in_cell(std::size_t i, std::size_t cell, const BoxShift& image, const Body& body) const {
    for (std::int32_t slot = cell_starts_[cell]; slot < cell_starts_[cell + 1]; ++slot) {
      const auto j = static_cast<std::size_t>(atoms_[static_cast<std::size_t>(slot)]);
      // Positions are as they came: what wrapped them belongs to the shift.
      BoxShift shift = image;
      for (std::size_t k = 0; k < 3; ++k) shift[k] += shifts_[i][k] - shifts_[j][k];
      body(j, shift);
    }
  }

  const double* const positions_;
  const Box* const box_;
  const std::size_t n_;
  std::array<std::int64_t, 3> size_{1, 1, 1}, reach_{1, 1, 1};  // cells
  std::array<double, 3> low_{}, extent_{};
  std::array<std::array<double, 3>, 3> inverse_{};  // fraction k is inverse_[k] . x
  std::vector<BoxShift> shifts_;                    // whole box vectors of each atom's position
  std::vector<std::array<std::int64_t, 3>> coordinates_;
  std::vector<std::size_t> cell_of_;
  std::vector<std::int32_t> cell_starts_, atoms_;
};

}  // namespace biogpu::ops
