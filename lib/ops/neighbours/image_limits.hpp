#pragma once

namespace biogpu::ops {

// Cells are wider than the radius by more than roundings of positions move an atom.
inline constexpr double kCellMargin = 1 + 1e-6;
// Images of a box along one of its vectors, to either side: 2e6 of them all.
inline constexpr int kMaxImages = 64;

}  // namespace biogpu::ops
