#pragma once

#include <array>
#include <cstdint>

namespace biogpu::ops {

// Box vectors a, b, c as rows, in Angstrom: of any orientation and handedness.
using Box = std::array<double, 9>;
// Whole box vectors.
using BoxShift = std::array<std::int32_t, 3>;

// Volume of a box, of either handedness.
double volume_of(const Box& box);

// Distances of opposite faces of a box: along a, b and c.
std::array<double, 3> face_distances(const Box& box);

// Rows whose products with a position are its parts of a, b and c.
std::array<std::array<double, 3>, 3> inverse_of(const Box& box);

// x_i - (x_j + shift * box): the same number with the sign changed for the pair the other way
// round. Every step is rounded, as on a GPU.
std::array<double, 3> displacement_of(const double* x_i, const double* x_j, const BoxShift& shift,
                                      const Box* box);

}  // namespace biogpu::ops
