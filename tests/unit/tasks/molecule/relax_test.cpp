#include "lib/tasks/molecule/relax.hpp"

#include <cmath>
#include <map>

#include "lib/tasks/molecule/energy.hpp"
#include "lib/tasks/molecule/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/tasks/molecule/systems.hpp"

using namespace biogpu;
using namespace biogpu::tasks;

namespace {

struct Last {
  int step = 0;
  bool converged = false;
  double energy = 0, force = 0;
  models::AtomSystem system;
};

std::map<std::size_t, Last> relax_all(models::PotentialModel& model,
                                      std::vector<models::AtomSystem> systems,
                                      const RelaxOptions& options,
                                      const std::vector<std::vector<std::uint8_t>>& fixed = {}) {
  std::map<std::size_t, Last> last;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < systems.size(); ++i) places.push_back("frame " + std::to_string(i));
  const auto take = [&](const RelaxPoint& point) {
    if (point.step > 0) CHECK(point.step == last[point.index].step + 1);
    last[point.index].step = point.step;
    if (!point.is_last) return;
    last[point.index] = {point.step, point.converged, point.result->energy,
                         max_force(point.result->forces), *point.system};
  };
  relax(model, systems, places, options, take, {}, fixed);
  return last;
}

}  // namespace

TEST_CASE("tasks.relax: a valley with curvatures of 1 to 50", "[tasks]") {
  for (const char* const name : {"fire", "lbfgs"}) {
    const auto optimizer = make_optimizer(name, 0.2);
    std::vector<double> x{1, -2, 0.5, 3, 1, 1}, forces(6);
    const std::vector<double> curvatures{1, 5, 50, 20, 2, 10};
    double longest = 0;
    int n_steps = 0;
    for (; n_steps < 500; ++n_steps) {
      double most = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        forces[i] = -curvatures[i] * (x[i] - 0.25);
        most = std::max(most, std::abs(forces[i]));
      }
      if (most < 1e-6) break;
      const std::vector<double> before = x;
      optimizer->step(x, forces);
      for (std::size_t a = 0; a < 6; a += 3)
        longest = std::max(longest, std::hypot(x[a] - before[a], x[a + 1] - before[a + 1],
                                               x[a + 2] - before[a + 2]));
    }
    INFO(name << " " << n_steps);
    CHECK(n_steps < (std::string(name) == "fire" ? 400 : 60));
    CHECK(longest <= 0.2 + 1e-12);
    for (const double value : x) CHECK(value == Approx(0.25).margin(1e-6));
  }
}

TEST_CASE("tasks.relax: clusters, each on its own in a batch", "[tasks]") {
  test::LennardJones model;
  const std::vector<models::AtomSystem> systems{test::rare_gas(1, 5.6, 0.3, false),
                                                test::rare_gas(2, 5.3, 0.2, false, 5)};
  std::map<std::string, double> energies;
  for (const char* const name : {"fire", "lbfgs"}) {
    RelaxOptions options{.optimizer = name, .max_force = 1e-5, .max_steps = 2000};
    const auto both = relax_all(model, systems, options);
    REQUIRE(both.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      INFO(name << " " << both.at(i).step);
      CHECK(both.at(i).converged);
      CHECK(both.at(i).force <= 1e-5);
      const auto alone = relax_all(model, {systems[i]}, options).at(0);
      CHECK(alone.system.positions == both.at(i).system.positions);
      CHECK(alone.step == both.at(i).step);
    }
    CHECK(both.at(0).step < both.at(1).step);
    energies[name] = both.at(0).energy;
  }
  CHECK(energies["fire"] == Approx(energies["lbfgs"]).epsilon(1e-7));
  const auto cut = relax_all(model, systems, {.max_force = 1e-5, .max_steps = 3});
  CHECK(cut.at(0).step == 3);
  CHECK_FALSE(cut.at(0).converged);
}

TEST_CASE("tasks.relax: fixed atoms and axes stay, and their forces do not count", "[tasks]") {
  test::Springs model({1.5, 4, 0.3});
  models::AtomSystem system;
  system.atomic_numbers = {1, 8, 6};
  system.positions = {0.5, -1, 2, 0.25, 0.75, -0.5, 1, 1, 1};
  const std::vector<std::uint8_t> fixed{1, 1, 1, 0, 1, 0, 0, 0, 0};
  for (const char* const name : {"fire", "lbfgs"}) {
    const RelaxOptions options{.optimizer = name, .max_force = 1e-6, .max_steps = 1000};
    const auto last = relax_all(model, {system}, options, {fixed});
    INFO(name << " " << last.at(0).step);
    CHECK(last.at(0).converged);
    CHECK(last.at(0).force > 1);
    const std::vector<double>& x = last.at(0).system.positions;
    for (std::size_t i = 0; i < 9; ++i) {
      if (fixed[i])
        CHECK(x[i] == system.positions[i]);
      else
        CHECK(std::abs(x[i]) < 1e-4);
    }
    const auto all = relax_all(model, {system}, options, {std::vector<std::uint8_t>(9, 1)});
    CHECK(all.at(0).converged);
    CHECK(all.at(0).step == 0);
  }
  models::AtomSystem boxed = system;
  boxed.box = models::Box{9, 0, 0, 0, 9, 0, 0, 0, 9};
  CHECK(test::potential_error([&] { relax_all(model, {boxed}, {.relax_box = true}, {fixed}); }) ==
        "frame 0: has fixed atoms (move_mask); a box that relaxes moves all atoms");
}

TEST_CASE("tasks.relax: the box of a crystal", "[tasks]") {
  test::LennardJones model;
  models::AtomSystem crystal = test::rare_gas(1, 5.4, 0, true);
  crystal.atomic_numbers.assign(4, 18);
  const auto energy = [&](double constant) {
    models::AtomSystem cubic = test::rare_gas(1, constant, 0, true);
    cubic.atomic_numbers.assign(4, 18);
    return model.compute({&cubic, 1}, {})[0].energy;
  };
  double low = 5, high = 5.6;  // of the lattice constant with the least energy
  while (high - low > 1e-7) {
    const double third = (high - low) / 3;
    (energy(low + third) < energy(high - third) ? high : low) =
        energy(low + third) < energy(high - third) ? high - third : low + third;
  }
  // A box that is bent and atoms that are shifted.
  (*crystal.box)[1] = 0.1;
  (*crystal.box)[5] = -0.15;
  crystal.positions[4] += 0.2;
  for (const char* const name : {"fire", "lbfgs"}) {
    const RelaxOptions options{.optimizer = name,
                               .max_force = 1e-6,
                               .max_stress = 1e-8,
                               .max_steps = 3000,
                               .relax_box = true};
    const Last last = relax_all(model, {crystal}, options).at(0);
    INFO(name << " " << last.step);
    REQUIRE(last.converged);
    const models::Box& box = *last.system.box;
    CHECK(std::cbrt(models::volume_of(box)) == Approx(low).margin(1e-4));
    CHECK(last.energy == Approx(energy(low)).margin(1e-7));
    for (std::size_t row = 0; row < 9; row += 3)
      CHECK(std::hypot(box[row], box[row + 1], box[row + 2]) == Approx(low).margin(1e-3));
  }
  const Last fixed = relax_all(model, {crystal}, {.max_force = 1e-4}).at(0);
  CHECK(fixed.converged);
  CHECK(*fixed.system.box == *crystal.box);
}

TEST_CASE("tasks.relax: a box that becomes too narrow, and NaN, name frame and step", "[tasks]") {
  using Breaks = test::Squeeze::Breaks;
  models::AtomSystem system;
  system.atomic_numbers = {1};
  system.positions = {0, 0, 0};
  system.box = models::Box{5, 0, 0, 0, 5, 0, 0, 0, 5};  // twice the cutoff is 4
  models::AtomSystem done = system;
  done.box.reset();
  for (const char* const name : {"fire", "lbfgs"}) {
    const RelaxOptions options{.optimizer = name, .relax_box = true};
    test::Squeeze model(Breaks::never);
    const std::string text = test::potential_error([&] {
      relax_all(model, {done, system}, options);
    });
    INFO(text);
    CHECK(text.starts_with("frame 1: step "));
    CHECK(text.find("A wide; the model needs at least 4 A, twice its cutoff") != std::string::npos);
    CHECK(model.n_calls() > 1);
    std::map<std::size_t, std::string> refused;
    std::map<std::size_t, Last> last;
    std::vector<models::AtomSystem> systems{system, done, system};
    relax(
        model, systems, {"a", "b", "c"}, options,
        [&](const RelaxPoint& point) {
          last[point.index].step = point.step;
          last[point.index].converged = point.converged;
        },
        [&](std::size_t index, const std::string& what) { refused[index] = what; });
    CHECK(last.at(1).converged);
    REQUIRE(refused.size() == 2);
    for (const std::size_t i : {0, 2}) {
      CHECK_FALSE(last.at(i).converged);
      CHECK(refused.at(i) == std::string(i == 0 ? "a" : "c") + text.substr(7));
    }
    for (const Breaks breaks : {Breaks::energy, Breaks::force, Breaks::virial}) {
      test::Squeeze bad(breaks, 1);
      CHECK(test::potential_error([&] {
              relax_all(bad, {done, system}, options);
            }).starts_with("frame 1: step 1: the result is NaN"));
    }
  }
}
