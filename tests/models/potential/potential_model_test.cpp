#include "lib/models/base/potential_model.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "lib/core/error.hpp"
#include "tests/models/potential/lennard_jones.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::AtomSystem;
using models::PotentialResult;

namespace {

AtomSystem crystal() {
  AtomSystem system;
  system.atomic_numbers = {18, 36, 18, 18};
  system.positions = {0.1, 0, 0, 2.7, 2.6, 0.2, 0.1, 2.5, 2.8, 2.4, 0, 2.7};
  system.box = models::Box{5.3, 0, 0, 0.2, 5.5, 0, 0, 0.3, 5.2};
  return system;
}

std::string refusal(models::PotentialModel& model, const AtomSystem& system) {
  try {
    model.check(system);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("models.potential: forces and virial of the test potential are slopes of its energy",
          "[models]") {
  test::LennardJones model;
  const AtomSystem system = crystal();
  const PotentialResult whole = model.compute({&system, 1}, {true, true, true})[0];
  const auto energy = [&](const AtomSystem& moved) {
    return model.compute({&moved, 1}, {})[0].energy;
  };
  constexpr double kStep = 1e-5;
  for (std::size_t k = 0; k < 12; ++k) {
    AtomSystem up = system, down = system;
    up.positions[k] += kStep;
    down.positions[k] -= kStep;
    CHECK(std::fabs((energy(down) - energy(up)) / (2 * kStep) - whole.forces[k]) < 1e-7);
  }
  const auto strained = [&](std::size_t row, std::size_t column, double by) {
    AtomSystem moved = system;
    for (std::size_t i = 0; i < 4; ++i)
      moved.positions[3 * i + column] += by * system.positions[3 * i + row];
    for (std::size_t i = 0; i < 3; ++i)
      (*moved.box)[3 * i + column] += by * (*system.box)[3 * i + row];
    return energy(moved);
  };
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      const double slope =
          (strained(row, column, kStep) - strained(row, column, -kStep)) / (2 * kStep);
      CHECK(std::fabs(slope - whole.virial[3 * row + column]) < 1e-6);
    }
  double sum = 0;
  for (const double of_atom : whole.atom_energies) sum += of_atom;
  CHECK(std::fabs(sum - whole.energy) < 1e-12);
}

TEST_CASE("models.potential: what a model cannot take is refused with its reason", "[models]") {
  test::LennardJones model;
  const AtomSystem good = crystal();
  CHECK(refusal(model, good).empty());
  AtomSystem system = good;
  system.atomic_numbers[2] = 26;
  CHECK(refusal(model, system) == "atom 3 is Fe; the model knows Ar Kr");
  system.atomic_numbers[2] = 0;
  CHECK(refusal(model, system).starts_with("atom 3 is element 0;"));
  system = good;
  system.positions[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(model, system) == "a coordinate of atom 2 is not finite");
  system = good;
  for (std::size_t k = 0; k < 3; ++k)  // the same place in another cell
    system.positions[9 + k] = system.positions[k] + (*system.box)[3 + k];
  CHECK(refusal(model, system) == "atoms 1 and 4 are at one place");
  system.box.reset();
  CHECK(refusal(model, system).empty());
  system = good;
  system.box = models::Box{};
  CHECK(refusal(model, system) == "the box has no volume");
  system = good;
  system.positions.pop_back();
  CHECK(refusal(model, system) == "4 atoms have 11 coordinates");
  CHECK(refusal(model, AtomSystem{}) == "there are no atoms");
}
