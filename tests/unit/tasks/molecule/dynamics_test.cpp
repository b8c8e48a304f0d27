#include "lib/tasks/molecule/dynamics.hpp"

#include <cmath>

#include "lib/bio/molecule/atomic_mass.hpp"
#include "lib/bio/molecule/extxyz_writer.hpp"
#include "lib/tasks/molecule/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bio/molecule/molecules.hpp"
#include "tests/unit/tasks/molecule/systems.hpp"

using namespace biogpu;
using namespace biogpu::tasks;

namespace {

DynamicsState at_rest(models::AtomSystem system) {
  DynamicsState state;
  state.velocities.assign(system.positions.size(), 0);
  state.system = std::move(system);
  return state;
}

DynamicsState thermal(models::AtomSystem system, double temperature) {
  DynamicsState state;
  state.velocities = draw_velocities(system, temperature, 7, 0);
  state.system = std::move(system);
  return state;
}

double total_energy(const Dynamics& dynamics, const models::PotentialModel& model) {
  return dynamics.result().energy * model.info().ev_per_energy + dynamics.kinetic_energy();
}

// A state as it is read back from a trajectory.
DynamicsState written_and_read(const DynamicsState& state) {
  molecule::Molecule frame;
  frame.atomic_numbers = state.system.atomic_numbers;
  frame.positions = state.system.positions;
  frame.velocities = state.velocities;
  frame.box = state.system.box;
  std::string text;
  molecule::append_extxyz(text, frame, {});
  const molecule::Molecule read = test::read_molecules("state.extxyz", text).at(0);
  DynamicsState back = state;
  back.system.positions = read.positions;
  back.system.box = read.box;
  back.velocities = read.velocities;
  return back;
}

}  // namespace

TEST_CASE("tasks.dynamics: springs swing as velocity Verlet says", "[tasks]") {
  const std::array<double, 3> curvatures{1.5, 4, 0.3};
  test::Springs model(curvatures);
  models::AtomSystem system;
  system.atomic_numbers = {1, 8};
  system.positions = {0.1, -0.2, 0.3, 0.3, 0.2, -0.1};
  Dynamics dynamics(model, at_rest(system), {.time_step = 0.4});
  dynamics.run(500);
  for (std::size_t i = 0; i < 6; ++i) {
    const double mass = molecule::atomic_mass(i < 3 ? 1 : 8);
    const double omega_dt = 0.4 * std::sqrt(curvatures[i % 3] * kAcceleration / mass);
    const double angle = std::acos(1 - omega_dt * omega_dt / 2);  // of one step, exactly
    CHECK(dynamics.state().system.positions[i] ==
          Approx(system.positions[i] * std::cos(500 * angle)).margin(1e-9));
  }
  CHECK(dynamics.state().step == 500);
}

TEST_CASE("tasks.dynamics: fixed atoms and axes do not move", "[tasks]") {
  test::LennardJones model;
  const models::AtomSystem system = test::rare_gas(1, 5.4, 0.1, false);
  std::vector<std::uint8_t> fixed(system.positions.size());
  fixed[0] = fixed[1] = fixed[2] = fixed[7] = 1;
  for (const bool langevin : {false, true}) {
    DynamicsState state;
    state.system = system;
    state.fixed = fixed;
    state.velocities = draw_velocities(system, 300, 7, 0, {}, fixed);
    state.velocities[1] = 0.5;  // of a file: it has no effect
    Dynamics dynamics(model, state,
                      {.time_step = 2, .langevin = langevin, .temperature = 300, .friction = 0.05});
    const double energy = total_energy(dynamics, model);
    dynamics.run(50);
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      const double moved = std::abs(dynamics.state().system.positions[i] - system.positions[i]);
      CHECK((moved == 0) == (fixed[i] == 1));
      CHECK((dynamics.state().velocities[i] == 0) == (fixed[i] == 1));
    }
    if (!langevin) CHECK(total_energy(dynamics, model) == Approx(energy).epsilon(1e-3));
    const double n_free = static_cast<double>(fixed.size()) - 4;
    CHECK(dynamics.temperature() ==
          Approx(2 * dynamics.kinetic_energy() / (n_free * kBoltzmann)).epsilon(1e-12));
  }
}

TEST_CASE("tasks.dynamics: energy does not drift in 10000 steps", "[tasks]") {
  test::LennardJones model;
  Dynamics dynamics(model, thermal(test::rare_gas(1, 5.4, 0.1, false), 30), {.time_step = 2});
  std::vector<double> energies;
  for (int i = 0; i < 10000; ++i) {
    dynamics.run(1);
    energies.push_back(total_energy(dynamics, model));
  }
  double sum_t = 0, sum_e = 0, sum_tt = 0, sum_te = 0, least = energies[0], most = energies[0];
  for (std::size_t i = 0; i < energies.size(); ++i) {
    const double t = static_cast<double>(i) - 4999.5;
    sum_t += t;
    sum_e += energies[i];
    sum_tt += t * t;
    sum_te += t * energies[i];
    least = std::min(least, energies[i]);
    most = std::max(most, energies[i]);
  }
  INFO("slope " << sum_te / sum_tt * 1e4 << " eV in the run, spread " << most - least);
  CHECK(std::abs(sum_te / sum_tt * 1e4) < 2e-6);
  CHECK(most - least < 2e-4);
  CHECK(most - least > 0);
  CHECK(dynamics.n_lists() > 2);
  CHECK(dynamics.n_lists() < 5000);
}

TEST_CASE("tasks.dynamics: Langevin dynamics has the temperature of its bath", "[tasks]") {
  test::Springs model({2, 2, 2});
  models::AtomSystem system;
  system.atomic_numbers.assign(100, 6);
  system.atomic_numbers.resize(200, 1);
  system.positions.assign(600, 0);
  Dynamics dynamics(model, at_rest(system),
                    {.time_step = 1, .langevin = true, .temperature = 300, .friction = 0.05});
  dynamics.run(200);
  double kinetic = 0, potential = 0;
  constexpr int kSteps = 4000;
  for (int i = 0; i < kSteps; ++i) {
    dynamics.run(1);
    kinetic += dynamics.kinetic_energy() / kSteps;
    potential += dynamics.result().energy * models::kEvPerKcalMol / kSteps;
  }
  const double right = 600 * kBoltzmann * 300 / 2;
  INFO(kinetic / right << " " << potential / right);
  CHECK(kinetic == Approx(right).epsilon(0.03));
  CHECK(potential == Approx(right).epsilon(0.02));
}

TEST_CASE("tasks.dynamics: velocities of a temperature", "[tasks]") {
  models::AtomSystem system = test::rare_gas(6, 5.4, 0, false);  // 864 atoms
  const std::vector<double> velocities = draw_velocities(system, 100, 3, 5);
  double kinetic = 0;
  std::array<double, 3> momentum{};
  for (std::size_t i = 0; i < velocities.size(); ++i) {
    const double mass = molecule::atomic_mass(system.atomic_numbers[i / 3]);
    kinetic += mass * velocities[i] * velocities[i] / (2 * kAcceleration);
    momentum[i % 3] += mass * velocities[i];
  }
  CHECK(kinetic == Approx(1.5 * 864 * kBoltzmann * 100).epsilon(0.06));
  for (const double p : momentum) CHECK(std::abs(p) < 1e-9);
  CHECK(velocities != draw_velocities(system, 100, 3, 6));
  CHECK(velocities != draw_velocities(system, 100, 4, 5));
  CHECK(velocities == draw_velocities(system, 100, 3, 5));
}

TEST_CASE("tasks.dynamics: a run from a written state goes on with the same bits", "[tasks]") {
  test::LennardJones model;
  for (const bool langevin : {false, true}) {
    // Moves far enough for several lists of pairs, made at other steps in the second run.
    const DynamicsOptions options{.time_step = 4,
                                  .langevin = langevin,
                                  .temperature = 200,
                                  .friction = 0.02,
                                  .seed = 11,
                                  .skin = 0.3};
    Dynamics whole(model, thermal(test::rare_gas(2, 5.4, 0.05, true), 120), options);
    Dynamics first = whole;
    whole.run(100);
    CHECK(whole.n_lists() > 3);
    first.run(37);
    Dynamics second(model, written_and_read(first.state()), options);
    second.run(63);
    CHECK(second.state().step == 100);
    CHECK(second.state().system.positions == whole.state().system.positions);
    CHECK(second.state().velocities == whole.state().velocities);
    CHECK(second.result().energy == whole.result().energy);
  }
}

TEST_CASE("tasks.dynamics: the skin changes no bit", "[tasks]") {
  test::LennardJones model;
  const DynamicsState state = thermal(test::rare_gas(2, 5.4, 0.05, true), 120);
  Dynamics thin(model, state, {.time_step = 4, .skin = 0}),
      thick(model, state, {.time_step = 4, .skin = 1.5});
  thin.run(60);
  thick.run(60);
  CHECK(thin.n_lists() == 61);
  CHECK(thick.n_lists() < 10);
  CHECK(thin.state().system.positions == thick.state().system.positions);
}

TEST_CASE("tasks.dynamics: NaN ends the run at its step", "[tasks]") {
  models::AtomSystem system;
  system.atomic_numbers = {1};
  system.positions = {0, 0, 0};
  for (const auto breaks : {test::Squeeze::Breaks::energy, test::Squeeze::Breaks::force}) {
    test::Squeeze model(breaks, 5);
    DynamicsState state = at_rest(system);
    state.step = 100;
    Dynamics dynamics(model, state, {});
    CHECK(test::potential_error([&] {
            dynamics.run(50);
          }).starts_with("step 105: the result is NaN"));
    CHECK(model.n_calls() == 6);
  }
  test::Squeeze at_once(test::Squeeze::Breaks::force);
  CHECK(test::potential_error([&] {
          Dynamics(at_once, at_rest(system), {});
        }).starts_with("step 0: "));
}
