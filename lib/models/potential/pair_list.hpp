#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace biogpu::models {

// Box vectors a, b, c as rows, in Angstrom.
using Box = std::array<double, 9>;

// Volume of a box, of either handedness.
double volume_of(const Box& box);

// Distances of opposite faces of a box: along a, b and c.
std::array<double, 3> face_distances(const Box& box);

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

// x_i - (x_j + shift * box): the same number with the sign changed for the pair the other way
// round.
std::array<double, 3> displacement_of(const double* x_i, const double* x_j,
                                      const std::array<std::int32_t, 3>& shift, const Box* box);

}  // namespace biogpu::models
