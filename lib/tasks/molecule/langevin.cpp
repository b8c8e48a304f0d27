#include "lib/tasks/molecule/langevin.hpp"

#include <cmath>
#include <cstddef>

#include "lib/core/philox.hpp"
#include "lib/tasks/molecule/units.hpp"

namespace biogpu::tasks {

std::array<double, 3> draw_normals(std::uint64_t seed, std::uint32_t trajectory, std::uint64_t step,
                                   std::uint32_t atom) {
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed),
                                         static_cast<std::uint32_t>(seed >> 32)};
  std::array<double, 4> normals{};
  for (std::uint32_t half = 0; half < 2; ++half) {
    const auto random = philox({atom, static_cast<std::uint32_t>(step),
                                static_cast<std::uint32_t>(step >> 32), 2 * trajectory + half},
                               key);
    const double radius = std::sqrt(-2.0 * std::log1p(-philox_unit(random, 0)));
    const double angle = 6.283185307179586 * philox_unit(random, 2);
    normals[2 * half] = radius * std::cos(angle);
    normals[2 * half + 1] = radius * std::sin(angle);
  }
  return {normals[0], normals[1], normals[2]};
}

void exchange_heat(DynamicsState& state, const DynamicsOptions& options) {
  const double kept = std::exp(-options.friction * options.time_step);
  const double added =
      std::sqrt((1 - kept * kept) * kBoltzmann * options.temperature * kAcceleration);
  for (std::size_t i = 0; i < state.masses.size(); ++i) {
    const auto normals =
        draw_normals(options.seed, state.trajectory, state.step, static_cast<std::uint32_t>(i));
    const double spread = added / std::sqrt(state.masses[i]);
    for (std::size_t d = 0; d < 3; ++d) {
      double& velocity = state.velocities[3 * i + d];
      velocity = kept * velocity + spread * normals[d];
    }
  }
}

}  // namespace biogpu::tasks
