#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/tasks/molecule/dynamics.hpp"

namespace biogpu::tasks {

// Three numbers of mean 0 and variance 1 (Box and Muller 1958), from a counter of seed, trajectory,
// step and atom.
std::array<double, 3> draw_normals(std::uint64_t seed, std::uint32_t trajectory, std::uint64_t step,
                                   std::uint32_t atom);

// The heat bath of Langevin dynamics: velocities by friction and noise over one time step, the part
// O of the splitting BAOAB.
void exchange_heat(DynamicsState& state, const DynamicsOptions& options);

}  // namespace biogpu::tasks
