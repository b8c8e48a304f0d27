#include "lib/tasks/molecule/dynamics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/bio/molecule/atomic_mass.hpp"
#include "lib/tasks/molecule/energy.hpp"
#include "lib/tasks/molecule/langevin.hpp"
#include "lib/tasks/molecule/units.hpp"

namespace biogpu::tasks {
namespace {

std::size_t count_fixed(const std::vector<std::uint8_t>& fixed) {
  return static_cast<std::size_t>(std::count(fixed.begin(), fixed.end(), 1));
}

void stop(const std::vector<std::uint8_t>& fixed, std::vector<double>& velocities) {
  for (std::size_t i = 0; i < fixed.size(); ++i)
    if (fixed[i]) velocities[i] = 0;
}

// The step that initial velocities are drawn for: no run gets there.
constexpr std::uint64_t kBeforeFirst = std::numeric_limits<std::uint64_t>::max();

std::vector<double> known_masses(std::vector<double> masses, const models::AtomSystem& system) {
  if (masses.empty())
    for (const std::int32_t element : system.atomic_numbers)
      masses.push_back(molecule::atomic_mass(element));
  return masses;
}

}  // namespace

std::vector<double> draw_velocities(const models::AtomSystem& system, double temperature,
                                    std::uint64_t seed, std::uint32_t trajectory,
                                    std::vector<double> masses,
                                    const std::vector<std::uint8_t>& fixed) {
  masses = known_masses(std::move(masses), system);
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
  if (count_fixed(fixed) > 0)
    stop(fixed, velocities);
  else
    for (std::size_t i = 0; i < velocities.size(); ++i)
      velocities[i] -= momentum[i % 3] / total_mass;
  return velocities;
}

Dynamics::Dynamics(models::PotentialModel& model, DynamicsState state,
                   const DynamicsOptions& options)
    : model_(model), options_(options), state_(std::move(state)) {
  state_.masses = known_masses(std::move(state_.masses), state_.system);
  stop(state_.fixed, state_.velocities);
  compute();
}

void Dynamics::run(std::uint64_t n_steps) {
  const double dt = options_.time_step;
  for (std::uint64_t i = 0; i < n_steps; ++i) {
    kick(dt / 2);
    if (options_.langevin) {
      drift(dt / 2);
      exchange_heat(state_, options_);
      stop(state_.fixed, state_.velocities);
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
    state_.velocities[i] += scale * result_.forces[i] / state_.masses[i / 3];
  stop(state_.fixed, state_.velocities);
}

void Dynamics::drift(double time) {
  for (std::size_t i = 0; i < state_.velocities.size(); ++i)
    state_.system.positions[i] += time * state_.velocities[i];
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
  const bool gives_pairs = !model_.info().finds_pairs;
  if (gives_pairs && list_is_stale()) {
    listed_positions_ = system.positions;
    pairs_ = models::find_pairs(system.positions, system.box ? &*system.box : nullptr,
                                model_.info().cutoff + options_.skin);
    ++n_lists_;
  }
  if (gives_pairs) system.pairs = &pairs_;
  result_ = std::move(model_.compute({&system, 1}, {true, false, false}).front());
  system.pairs = nullptr;
  require_finite(result_, [&] { return fmt::format("step {}", state_.step); });
}

double Dynamics::kinetic_energy() const {
  double sum = 0;
  for (std::size_t i = 0; i < state_.velocities.size(); ++i)
    sum += state_.masses[i / 3] * state_.velocities[i] * state_.velocities[i];
  return sum / (2 * kAcceleration);
}

double Dynamics::temperature() const {
  const std::size_t n_free = state_.velocities.size() - count_fixed(state_.fixed);
  if (n_free == 0) return 0;
  return 2 * kinetic_energy() / (static_cast<double>(n_free) * kBoltzmann);
}

}  // namespace biogpu::tasks
