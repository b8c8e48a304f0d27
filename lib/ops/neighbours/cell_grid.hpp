#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace biogpu::ops {

// Atoms of one molecule in cells that are at least a cutoff wide, so that the neighbours of an atom
// are in its own cell and the 26 around it. Coordinates are kept one axis after the other, in the
// order of the cells and of the atoms in them. With one cell it is a plain list.
class CellGrid {
 public:
  // positions [n_atoms, 3] of atoms first_atom and following; box: 9 numbers or null. The grid is
  // one cell where there are few atoms or the box has room for no more.
  CellGrid(const float* positions, std::int64_t first_atom, std::int64_t n_atoms, const float* box,
           float cutoff);

  struct Range {
    std::int64_t begin, end;
  };
  // Slots of all cells around a position, each cell once.
  void ranges_around(const float* position, std::vector<Range>& ranges) const;

  bool one_cell() const { return n_cells_[0] * n_cells_[1] * n_cells_[2] == 1; }
  // By slot.
  const float* axis(int i) const { return coordinates_[static_cast<std::size_t>(i)].data(); }
  const std::int32_t* atoms() const { return atoms_.data(); }

 private:
  void choose_cells(const float* positions, std::int64_t n_atoms, double cutoff);
  void sort_atoms(const float* positions, std::int64_t first_atom, std::int64_t n_atoms);
  std::array<std::int64_t, 3> cell_of(const float* position) const;

  const float* const box_;
  std::array<std::int64_t, 3> n_cells_{1, 1, 1};
  std::array<double, 3> lowest_{}, extent_{1, 1, 1};  // without a box
  std::vector<std::int64_t> starts_;                  // of the slots of each cell
  std::array<std::vector<float>, 3> coordinates_;
  std::vector<std::int32_t> atoms_;
};

}  // namespace biogpu::ops
