#include "lib/tasks/molecule/energy.hpp"

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/tasks/molecule/systems.hpp"

using namespace biogpu;
using namespace biogpu::tasks;

TEST_CASE("tasks.energy: units of frames and lines", "[tasks]") {
  models::AtomSystem system;
  system.atomic_numbers = {1, 8};
  system.positions = {0, 0, 0, 1, 0, 0};
  system.box = models::Box{2, 0, 0, 0, 2, 0, 0, 0, 2};
  models::PotentialResult result;
  result.energy = -46.12109566;  // kcal/mol, two eV
  result.forces = {23.06054783, 0, 0, 0, 0, -46.12109566};
  result.virial = {8 * 23.06054783, 0, 0, 0, 0, 16 * 23.06054783, 0, 0, 0};
  const EnergyOptions options{true, true, find_energy_unit("eV")};
  const molecule::FrameResults frame =
      frame_results(system, result, models::kEvPerKcalMol, options);
  CHECK(*frame.energy == Approx(-2));
  CHECK(frame.forces[5] == Approx(-2));
  CHECK((*frame.stress)[0] == Approx(1));
  std::string text = energy_header(options);
  append_energy_line(text, 3, 2, frame, options);
  CHECK(text ==
        "index\tnatoms\tenergy\tfmax\tstress_xx\tstress_yy\tstress_zz\tstress_yz\tstress_xz\t"
        "stress_xy\tunits\n3\t2\t-2.00000000\t2.00000000\t1\t0\t0\t2\t0\t0\teV,eV/A,eV/A^3\n");
  const EnergyOptions plain{false, false, find_energy_unit("kcal/mol")};
  text = energy_header(plain);
  append_energy_line(text, 1, 2, frame_results(system, result, models::kEvPerKcalMol, plain),
                     plain);
  CHECK(text == "index\tnatoms\tenergy\tunits\n1\t2\t-46.12109566\tkcal/mol\n");
  CHECK(max_force({3, 4, 0, 1, 1, 1}) == 5);
}

TEST_CASE("tasks.energy: charges and refusals of a batch", "[tasks]") {
  test::LennardJones model;
  MoleculeBatch batch;
  batch.molecules.resize(2);
  batch.places = {"a.xyz: frame 1", "a.xyz: frame 2"};
  for (molecule::Molecule& molecule : batch.molecules) {
    molecule.atomic_numbers = {18};
    molecule.positions = {0, 0, 0};
  }
  batch.molecules[1].charge = -1;
  CHECK_FALSE(make_systems(model, batch)[0].total_charge.has_value());
  CHECK(make_systems(model, batch)[1].total_charge == std::optional<double>(-1));
  batch.molecules[1].atomic_numbers = {6};
  CHECK_THROWS_WITH(make_systems(model, batch),
                    Catch::Matchers::StartsWith("a.xyz: frame 2: atom 1 is C"));
}

TEST_CASE("tasks.energy: what no matter is, is refused before it fills memory", "[tasks]") {
  std::vector<double> positions;
  for (int i = 0; i < 3000; ++i)
    for (const int k : {i % 15, i / 15 % 15, i / 225}) positions.push_back(0.02 * k);
  CHECK_THROWS_WITH(models::require_density(positions, nullptr, 2),
                    "more than 134 neighbours an atom within the cutoff of 2 A, as no matter has; "
                    "are lengths in Angstrom?");
  for (double& x : positions) x *= 50;  // an Angstrom apart
  CHECK_NOTHROW(models::require_density(positions, nullptr, 2));
  const models::Box narrow{0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2}, thin{0.03, 0, 0, 0, 9, 0, 0, 0, 9};
  CHECK_THROWS_WITH(models::require_density({0, 0, 0, 0.1, 0, 0}, &narrow, 2),
                    Catch::Matchers::StartsWith("more than 134 neighbours an atom"));
  CHECK_THROWS_WITH(models::require_density({0, 0, 0}, &thin, 2),
                    "the box is 0.03 A wide, much less than the cutoff of 2 A");
  CHECK_NOTHROW(models::require_density({0, 0, 0}, nullptr, 2));
}
