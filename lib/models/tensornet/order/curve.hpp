#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/ops/neighbours/periodic_box.hpp"

namespace biogpu::models::tensornet {

inline constexpr int kCurveBits = 16;  // of a coordinate of curve_index()

// Where a cell of a cube of 2^bits cells an axis comes on the Hilbert curve through all of them,
// on which each cell shares a face with the one before.
std::uint64_t curve_index(std::array<std::uint32_t, 3> cell, int bits = kCurveBits);

// The atoms [n] along the curve through a cube about them, or about the parallelepiped of a box
// whose atoms are put inside; atoms of one cell by their number. positions: [n, 3]. Numbers that
// are not finite give some order.
std::vector<std::int32_t> curve_order(const std::vector<double>& positions, const ops::Box* box);

}  // namespace biogpu::models::tensornet
