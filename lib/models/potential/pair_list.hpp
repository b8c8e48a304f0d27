#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/ops/neighbours/periodic_box.hpp"

namespace biogpu::models {

using ops::Box;
using ops::displacement_of;
using ops::face_distances;
using ops::volume_of;

// Neighbours of each atom within a radius: atom i has entries [starts[i], starts[i + 1]), sorted by
// the neighbour and then by its shift. Every pair is there both ways round, no atom is its own
// neighbour except through an image.
struct PairList {
  double radius = 0;                     // Angstrom
  std::vector<std::int32_t> starts;      // [n + 1]
  std::vector<std::int32_t> neighbours;  // [pairs]
  // Of the neighbour, in whole box vectors: the neighbour of atom i is at x_j + shift * box.
  // Empty without a box.
  std::vector<std::array<std::int32_t, 3>> shifts;

  std::size_t n_atoms() const { return starts.empty() ? 0 : starts.size() - 1; }
};

// All pairs within a radius, with all images of a box, by cells: time and memory are linear in the
// atoms of a system of even density. positions: [n, 3]. box: null where there is none. Throws
// Error{bad_input} for numbers that are not finite, for a box without volume or much narrower than
// the radius, and for more pairs than 32 bits count.
PairList find_pairs(const std::vector<double>& positions, const Box* box, double radius);

// Throws Error{bad_input} as find_pairs() does, and where there are so many pairs as no matter has:
// a few lines of a file would fill the memory. Takes a small part of the time of find_pairs().
void require_density(const std::vector<double>& positions, const Box* box, double radius);

// The checks of find_pairs() on positions and box, with the same errors, without listing pairs: a
// device lists them.
void require_pairs(const std::vector<double>& positions, const Box* box, double radius);

}  // namespace biogpu::models
