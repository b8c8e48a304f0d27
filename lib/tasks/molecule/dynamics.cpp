#include "lib/tasks/molecule/dynamics.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/bio/molecule/atomic_mass.hpp"
#include "lib/core/philox.hpp"
#include "lib/tasks/molecule/energy.hpp"
#include "lib/tasks/molecule/units.hpp"

namespace biogpu::tasks {
namespace {

// The step that initial velocities are drawn for: no run gets there.
constexpr std::uint64_t kBeforeFirst = std::numeric_limits<std::uint64_t>::max();

// Three numbers of mean 0 and variance 1. (Box and Muller 1958)
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

std::vector<double> masses_of(const models::AtomSystem& system) {
  std::vector<double> masses;
  for (const std::int32_t element : system.atomic_numbers)
    masses.push_back(molecule::atomic_mass(element));
  return masses;
}

}  // namespace

std::vector<double> draw_velocities(const models::AtomSystem& system, double temperature,
                                    std::uint64_t seed, std::uint32_t trajectory) {
  const std::vector<double> masses = masses_of(system);
  std::vector<double> velocities(3 * masses.size());
  std::array<double, 3> momentum{};
  double total_mass = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const auto normals =
        draw_normals(seed, trajectory, kBeforeFirst, static_cast<std::uint32_t>(i));
    const double spread = std::sqrt(kBoltzmann * temperature * kAcceleration / masses[i]);
    for (std::size_t d = 0; d < 3; ++d) {
      velocities[3 * i + d] = spread * normals[d];
      momentum[d] += masses[i] * velocities[3 * i + d];
    }
    total_mass += masses[i];
  }
  for (std::size_t i = 0; i < velocities.size(); ++i) velocities[i] -= momentum[i % 3] / total_mass;
  return velocities;
}

Dynamics::Dynamics(models::PotentialModel& model, DynamicsState state,
                   const DynamicsOptions& options)
    : model_(model),
      options_(options),
      state_(std::move(state)),
      masses_(masses_of(state_.system)) {
  compute();
}

void Dynamics::run(std::uint64_t n_steps) {
  const double dt = options_.time_step;
  for (std::uint64_t i = 0; i < n_steps; ++i) {
    kick(dt / 2);
    if (options_.langevin) {
      drift(dt / 2);
      exchange_heat();
      drift(dt / 2);
    } else {
      drift(dt);
    }
    ++state_.step;
    compute();
    kick(dt / 2);
  }
}

void Dynamics::kick(double time) {
  const double scale = time * kAcceleration * model_.info().ev_per_energy;
  for (std::size_t i = 0; i < state_.velocities.size(); ++i)
    state_.velocities[i] += scale * result_.forces[i] / masses_[i / 3];
}

void Dynamics::drift(double time) {
  for (std::size_t i = 0; i < state_.velocities.size(); ++i)
    state_.system.positions[i] += time * state_.velocities[i];
}

void Dynamics::exchange_heat() {
  const double kept = std::exp(-options_.friction * options_.time_step);
  const double added =
      std::sqrt((1 - kept * kept) * kBoltzmann * options_.temperature * kAcceleration);
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    const auto normals =
        draw_normals(options_.seed, state_.trajectory, state_.step, static_cast<std::uint32_t>(i));
    const double spread = added / std::sqrt(masses_[i]);
    for (std::size_t d = 0; d < 3; ++d) {
      double& velocity = state_.velocities[3 * i + d];
      velocity = kept * velocity + spread * normals[d];
    }
  }
}

bool Dynamics::list_is_stale() const {
  if (listed_positions_.empty()) return true;
  const double bound = options_.skin * options_.skin / 4;
  const std::vector<double>& x = state_.system.positions;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    double square = 0;
    for (std::size_t d = i; d < i + 3; ++d)
      square += (x[d] - listed_positions_[d]) * (x[d] - listed_positions_[d]);
    if (!(square < bound)) return true;
  }
  return false;
}

void Dynamics::compute() {
  models::AtomSystem& system = state_.system;
  if (list_is_stale()) {
    listed_positions_ = system.positions;
    pairs_ = models::find_pairs(system.positions, system.box ? &*system.box : nullptr,
                                model_.info().cutoff + options_.skin);
    ++n_lists_;
  }
  system.pairs = &pairs_;
  result_ = std::move(model_.compute({&system, 1}, {true, false, false}).front());
  system.pairs = nullptr;
  require_finite(result_, fmt::format("step {}", state_.step));
}

double Dynamics::kinetic_energy() const {
  double sum = 0;
  for (std::size_t i = 0; i < state_.velocities.size(); ++i)
    sum += masses_[i / 3] * state_.velocities[i] * state_.velocities[i];
  return sum / (2 * kAcceleration);
}

double Dynamics::temperature() const {
  return 2 * kinetic_energy() / (3 * static_cast<double>(masses_.size()) * kBoltzmann);
}

}  // namespace biogpu::tasks
