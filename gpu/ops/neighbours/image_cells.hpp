#pragma once

// Device side of lists with all images (lib/ops/neighbours/neighbour_list.hpp): atoms in cells that
// are at least a cutoff wide, and which images of which atoms are around an atom.
//
// A molecule with n atoms has at most n cells, at the numbers of its atoms: cell c of the molecule
// whose first atom is b is number b + c, and the atoms of its cells are in slots b to b + n. How
// the atoms of one cell are ordered differs from run to run: what reads them sorts or counts.

#include <cstdint>

#include "gpu/ops/neighbours/edge_search.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/ops/neighbours/image_limits.hpp"

namespace biogpu::gpu::ops {

// Grids need not be those of lib/ops/neighbours/image_cells.hpp: a grid decides which pairs are
// looked at, and each pair is measured in exact steps.
using biogpu::ops::kCellMargin;
using biogpu::ops::kMaxImages;
static_assert(kMaxImages < 128, "image_number() has 8 bits for each vector of a box");

struct ImageSearch {
  const double* positions;       // [T, 3]
  const double* boxes;           // [n_segments, 9] or null
  const std::int32_t* segments;  // [n_segments + 1]
  std::int64_t n_segments, n_atoms;
  double cutoff, lower_squared, upper_squared;
  bool self_pairs;
};

// The grid of one molecule.
struct ImageGrid {
  double inverse[9];      // of the box; without one, 1 / width of the grid on the diagonal
  double low[3];          // without a box, where it begins
  double box[9];          // its vectors; zeros without one
  std::int32_t first;     // atom, cell and slot
  std::int32_t size[3];   // cells
  std::int32_t reach[3];  // cells that a cutoff spans
  bool has_box;
};

// Where an atom is.
struct AtomCell {
  std::int32_t cell[3];
  std::int32_t wrap[3];       // whole box vectors that moving it into the box takes off
  std::int32_t rank_in_cell;  // among the atoms of its cell
};

// An atom in its slot.
struct BinnedAtom {
  double x[3];
  std::int32_t atom, segment;
  std::int32_t wrap[3], cell[3];  // as AtomCell
};

struct CellArrays {
  ImageGrid* grids;                         // [n_segments]
  BinnedAtom* binned;                       // [T], by slot
  std::int32_t *cell_counts, *cell_starts;  // [T], by cell
  AtomCell* atom_cells;                     // [T], by atom
};

__device__ inline double cross_part(const double* a, const double* b, int k) {
  const int l = (k + 1) % 3, m = (k + 2) % 3;
  return a[l] * b[m] - a[m] * b[l];
}

__device__ inline std::int32_t cells_along(double extent, double cutoff) {
  const double cells = floor(extent / cutoff);
  return cells >= 1 ? static_cast<std::int32_t>(cells < 1e5 ? cells : 1e5) : 1;
}

// No more cells than atoms.
__device__ inline void limit_cells(std::int32_t* size, std::int32_t n_atoms) {
  while (std::int64_t{size[0]} * size[1] > n_atoms ||
         std::int64_t{size[0]} * size[1] * size[2] > n_atoms) {
    int largest = 0;
    for (int k = 1; k < 3; ++k)
      if (size[k] > size[largest]) largest = k;
    size[largest] = (size[largest] + 1) / 2;
  }
}

// low, high: of the positions; read where there is no box.
__device__ inline void make_grid(const ImageSearch& s, const double* box, std::int32_t n_atoms,
                                 const double* low, const double* high, ImageGrid& grid) {
  const double cutoff = s.cutoff * kCellMargin;
  double widths[3];
  for (int k = 0; k < 9; ++k) grid.inverse[k] = grid.box[k] = 0;
  grid.has_box = box != nullptr;
  if (box != nullptr) {
    for (int k = 0; k < 9; ++k) grid.box[k] = box[k];
    double volume = 0;  // negative in left-handed boxes
    for (int d = 0; d < 3; ++d) volume += box[d] * cross_part(box + 3, box + 6, d);
    for (int k = 0; k < 3; ++k) {
      const double* const after = box + 3 * ((k + 1) % 3);
      const double* const last = box + 3 * ((k + 2) % 3);
      double squares = 0;
      for (int d = 0; d < 3; ++d) {
        const double face = cross_part(after, last, d);
        squares += face * face;
        grid.inverse[3 * k + d] = face / volume;
      }
      widths[k] = fabs(volume) / sqrt(squares);
    }
  } else {
    for (int k = 0; k < 3; ++k) widths[k] = high[k] - low[k];
  }
  for (int k = 0; k < 3; ++k) grid.size[k] = cells_along(widths[k], cutoff);
  limit_cells(grid.size, n_atoms);
  for (int k = 0; k < 3; ++k) {
    grid.low[k] = 0;
    grid.reach[k] = 1;
    if (box != nullptr) {
      const double reach = ceil(cutoff * grid.size[k] / widths[k]);
      if (reach > 1)
        grid.reach[k] = static_cast<std::int32_t>(reach < kMaxImages ? reach : kMaxImages);
      continue;
    }
    grid.low[k] = low[k];
    const double least = grid.size[k] * cutoff;
    grid.inverse[4 * k] = 1 / (widths[k] > least ? widths[k] : least);
  }
}

// Where an atom is: its cell along each axis, and what moves it into the box.
__device__ inline AtomCell find_cell(const ImageGrid& grid, const double* x) {
  AtomCell found{};
  for (int k = 0; k < 3; ++k) {
    double part = 0;
    for (int d = 0; d < 3; ++d) part += grid.inverse[3 * k + d] * (x[d] - grid.low[d]);
    if (grid.has_box) {
      const double whole = floor(part);
      if (fabs(whole) < 5e8) found.wrap[k] = static_cast<std::int32_t>(whole);  // as ImageCells
      part -= whole;
    }
    const double at = part * grid.size[k];
    const std::int32_t last = grid.size[k] - 1;
    found.cell[k] = at > 0 ? static_cast<std::int32_t>(at < last ? at : last) : 0;
  }
  return found;
}

// An image of an atom as another one sees it.
struct SeenImage {
  double r[3], squared;
  bool is_self;
};

// image: of the neighbour's cell; 0 without a box.
__device__ inline SeenImage see_image(const ImageGrid& grid, const BinnedAtom& to,
                                      const BinnedAtom& from, const std::int32_t* image) {
  SeenImage seen;
  double shift[3];
  seen.is_self = to.atom == from.atom;
  for (int k = 0; k < 3; ++k) {
    const std::int32_t whole = image[k] + to.wrap[k] - from.wrap[k];
    shift[k] = whole;
    seen.is_self = seen.is_self && whole == 0;
    seen.r[k] = to.x[k] - from.x[k];
  }
  if (grid.has_box)
    for (int k = 0; k < 3; ++k)
      seen.r[k] -=
          exact_dot(shift[0], grid.box[k], shift[1], grid.box[3 + k], shift[2], grid.box[6 + k]);
  seen.squared = exact_dot(seen.r[0], seen.r[0], seen.r[1], seen.r[1], seen.r[2], seen.r[2]);
  return seen;
}

__device__ inline bool is_edge(const ImageSearch& s, const SeenImage& seen) {
  if (seen.is_self) return s.self_pairs;
  return seen.squared >= s.lower_squared && seen.squared < s.upper_squared;
}

// A number for an image that rises with it; those of a pair from both sides add up to kBothImages.
__device__ inline std::int32_t image_number(const std::int32_t* image) {
  return (image[0] + 128) * 65536 + (image[1] + 128) * 256 + image[2] + 128;
}
inline constexpr std::int32_t kBothImages = 2 * (128 * 65536 + 128 * 256 + 128);
__device__ inline void image_of(std::int32_t number, std::int32_t* image) {
  image[0] = number / 65536 - 128;
  image[1] = number / 256 % 256 - 128;
  image[2] = number % 256 - 128;
}

// Cell `at` of an axis as a cell of the grid and the image that it is in. False where there is
// none.
__device__ inline bool fold(const ImageGrid& grid, int axis, std::int32_t& at,
                            std::int32_t& image) {
  const std::int32_t size = grid.size[axis];
  image = at >= 0 ? at / size : -((size - 1 - at) / size);
  at -= image * size;
  return grid.has_box || image == 0;
}

// body(slot, image) by all lanes of a wave for the slots around an atom; slot is -1 in lanes that
// have none. Cells that follow one another along the last axis are one run of slots.
template <int kWave, class Body>
__device__ inline void for_images(const CellArrays& cells, const ImageGrid& grid,
                                  const BinnedAtom& to, int lane, const Body& body) {
  std::int32_t image[3];
  const auto run = [&](std::int32_t row, std::int32_t first, std::int32_t last) {
    const std::int32_t begin = cells.cell_starts[row + first];
    const std::int32_t end = cells.cell_starts[row + last] + cells.cell_counts[row + last];
    for (std::int32_t slot = begin; slot < end; slot += kWave)
      body(slot + lane < end ? slot + lane : -1, image);
  };
  for (std::int32_t a = to.cell[0] - grid.reach[0]; a <= to.cell[0] + grid.reach[0]; ++a) {
    std::int32_t x = a;
    if (!fold(grid, 0, x, image[0])) continue;
    for (std::int32_t b = to.cell[1] - grid.reach[1]; b <= to.cell[1] + grid.reach[1]; ++b) {
      std::int32_t y = b;
      if (!fold(grid, 1, y, image[1])) continue;
      const std::int32_t row = grid.first + (x * grid.size[1] + y) * grid.size[2];
      const std::int32_t end = to.cell[2] + grid.reach[2];
      for (std::int32_t c = to.cell[2] - grid.reach[2]; c <= end;) {
        std::int32_t z = c;
        const bool exists = fold(grid, 2, z, image[2]);
        const std::int32_t left = end - c, in_image = grid.size[2] - 1 - z;
        const std::int32_t more = left < in_image ? left : in_image;
        if (exists) run(row, z, z + more);
        c += more + 1;
      }
    }
  }
}

}  // namespace biogpu::gpu::ops
