#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include "lib/core/error.hpp"
#include "lib/models/tensornet/order/atom_order.hpp"
#include "lib/models/tensornet/order/curve.hpp"
#include "lib/tasks/molecule/dynamics.hpp"
#include "tests/models/tensornet/order_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

using namespace biogpu;
using models::AtomSystem;
using models::PairList;
using models::PotentialResult;
using models::tensornet::AtomOrder;
using models::tensornet::EdgeRule;
using models::tensornet::kMinOrderedAtoms;
using test::kTensorNets;
using test::LoadedPotential;
using test::random_system;
using test::Shuffled;

namespace {

std::unique_ptr<tensor::Context> two_threads() { return ops::make_cpu_context(2); }

// The largest difference, of the largest number or of 1.
template <class Numbers>
double relative_difference(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double worst = 0, largest = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = test::worse_of(worst, std::fabs(a[i] - b[i]));
    largest = std::max(largest, std::fabs(b[i]));
  }
  return worst / largest;
}

// What a model computes of a system in the order of the curve, whatever its size.
PotentialResult ordered(LoadedPotential& potential, const AtomSystem& system) {
  const AtomOrder order({&system, 1}, {0, potential.model->info().cutoff, false}, 1);
  PotentialResult result = potential.compute(order.systems()[0]);
  order.restore(0, result);
  return result;
}

}  // namespace

TEST_CASE("tensornet.order: the curve visits each cell once, next to the one before", "[models]") {
  std::vector<std::array<std::uint32_t, 3>> cells(512, {8, 8, 8});
  for (std::uint32_t i = 0; i < 512; ++i) {
    const std::array<std::uint32_t, 3> cell{i & 7, i >> 3 & 7, i >> 6};
    const std::uint64_t place = models::tensornet::curve_index(cell, 3);
    REQUIRE(place < cells.size());
    REQUIRE(cells[place][0] == 8);
    cells[place] = cell;
  }
  for (std::size_t i = 1; i < cells.size(); ++i) {
    int steps = 0;
    for (std::size_t k = 0; k < 3; ++k)
      steps += std::abs(static_cast<int>(cells[i][k]) - static_cast<int>(cells[i - 1][k]));
    CHECK(steps == 1);
  }
}

TEST_CASE("tensornet.order: the order is of positions and box, and brings neighbours together",
          "[models]") {
  const bool has_box = GENERATE(false, true);
  CAPTURE(has_box);
  AtomSystem system = random_system(4000, 2.0, has_box);
  const models::Box* const box = has_box ? &*system.box : nullptr;
  const std::vector<std::int32_t> order = models::tensornet::curve_order(system.positions, box);
  std::vector<std::int32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    REQUIRE(sorted[i] == static_cast<std::int32_t>(i));
  // The same atoms, whichever their numbers.
  const Shuffled shuffled(system);
  const std::vector<std::int32_t> other =
      models::tensornet::curve_order(shuffled.system.positions, box);
  for (std::size_t i = 0; i < order.size(); ++i)
    REQUIRE(shuffled.order[static_cast<std::size_t>(other[i])] == order[i]);
  // Pairs of neighbours that are at most 64 rows from each other: few by chance, most on the curve.
  const auto near = [&](const std::vector<double>& positions) {
    const PairList pairs = models::find_pairs(positions, box, 3);
    std::size_t n_near = 0;
    for (std::size_t i = 0; i < pairs.n_atoms(); ++i)
      for (auto p = pairs.starts[i]; p < pairs.starts[i + 1]; ++p)
        n_near += std::abs(pairs.neighbours[static_cast<std::size_t>(p)] -
                           static_cast<std::int32_t>(i)) <= 64;
    return static_cast<double>(n_near) / static_cast<double>(pairs.neighbours.size());
  };
  std::vector<double> along;
  for (const std::int32_t i : order)
    for (std::size_t k = 0; k < 3; ++k)
      along.push_back(system.positions[3 * static_cast<std::size_t>(i) + k]);
  CHECK(near(shuffled.system.positions) < 0.1);
  CHECK(near(along) > 0.6);
}

TEST_CASE("tensornet.order: atoms in a box have their place wherever their image is", "[models]") {
  AtomSystem system = random_system(500, 2.0, true);
  const std::vector<std::int32_t> order =
      models::tensornet::curve_order(system.positions, &*system.box);
  for (std::size_t i = 0; i < system.n_atoms(); i += 3)
    for (std::size_t k = 0; k < 3; ++k) system.positions[3 * i + k] -= (*system.box)[3 + k];
  CHECK(models::tensornet::curve_order(system.positions, &*system.box) == order);
  // Numbers that make no place give some order.
  system.positions = {NAN, 1, 2, HUGE_VAL, -HUGE_VAL, 1e300, 0, 0, 0};
  for (const models::Box* const box :
       {static_cast<const models::Box*>(&*system.box), static_cast<const models::Box*>(nullptr)}) {
    std::vector<std::int32_t> some = models::tensornet::curve_order(system.positions, box);
    std::sort(some.begin(), some.end());
    CHECK(some == std::vector<std::int32_t>{0, 1, 2});
  }
  system.positions.assign(9, 1.0);
  CHECK(models::tensornet::curve_order(system.positions, nullptr) ==
        std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("tensornet.order: results in the order of the curve are those of the caller's",
          "[models][model]") {
  const std::string name =
      GENERATE("o3", "charges", "charges_box", "matgl", "matgl_dgl", "zbl", "coulomb");
  const bool fp64 = GENERATE(false, true), given = GENERATE(false, true);
  CAPTURE(name, fp64, given);
  LoadedPotential potential(kTensorNets + name,
                            fp64 ? ops::make_reference_context() : two_threads());
  for (const test::ExpectedSystem& one : test::ExpectedFile(kTensorNets + name).systems()) {
    AtomSystem system = one.system;
    const PairList pairs = models::find_pairs(system.positions, system.box ? &*system.box : nullptr,
                                              potential.model->info().cutoff + 0.4);
    if (given) system.pairs = &pairs;
    const PotentialResult a = ordered(potential, system), b = potential.compute(system);
    CHECK(relative_difference(a.atom_energies, b.atom_energies) < (fp64 ? 1e-12 : 1e-5));
    CHECK(relative_difference(a.forces, b.forces) < (fp64 ? 1e-12 : 2e-5));
    CHECK(relative_difference(a.virial, b.virial) < (fp64 ? 1e-12 : 5e-5));
    CHECK(std::fabs(a.energy - b.energy) <
          (fp64 ? 1e-12 : 1e-5) * static_cast<double>(system.n_atoms()));
  }
}

TEST_CASE("tensornet.order: a large system's bytes do not depend on the order of its atoms",
          "[models][model]") {
  const bool has_box = GENERATE(false, true);
  CAPTURE(has_box);
  LoadedPotential potential(kTensorNets + "o3", two_threads()),
      one(kTensorNets + "o3", ops::make_cpu_context(1));
  const AtomSystem system = random_system(kMinOrderedAtoms, 2.4, has_box);
  const PotentialResult result = potential.compute(system);
  const Shuffled shuffled(system);
  const PairList pairs =
      models::find_pairs(shuffled.system.positions, has_box ? &*system.box : nullptr, 3.8);
  AtomSystem listed = shuffled.system;
  listed.pairs = &pairs;
  AtomSystem small = system;
  small.atomic_numbers.resize(20);
  small.positions.resize(60);
  // In a batch, behind another, and of pairs that are given.
  const std::vector<AtomSystem> systems{small, listed, small};
  const std::vector<PotentialResult> all = one.model->compute(systems, {true, true, true});
  CHECK(all[1].energy == result.energy);
  CHECK(all[1].virial == result.virial);
  CHECK(all[1].forces == shuffled.of(result.forces, 3));
  CHECK(all[1].atom_energies == shuffled.of(result.atom_energies, 1));
  CHECK(all[0].forces == potential.compute(small).forces);
  CHECK(all[2].forces == all[0].forces);
  // One atom fewer is computed as it is: not the bytes, but the numbers.
  AtomSystem plain = system;
  plain.atomic_numbers.pop_back();
  plain.positions.resize(plain.positions.size() - 3);
  const PotentialResult a = potential.compute(plain), b = ordered(potential, plain);
  CHECK(a.forces != b.forces);
  CHECK(relative_difference(a.atom_energies, b.atom_energies) < 1e-5);
  CHECK(relative_difference(a.forces, b.forces) < 2e-5);
  LoadedPotential exact(kTensorNets + "o3", ops::make_reference_context());
  const PotentialResult c = exact.compute(plain), d = ordered(exact, plain);
  CHECK(c.forces != d.forces);
  CHECK(relative_difference(c.atom_energies, d.atom_energies) < 1e-12);
  CHECK(relative_difference(c.forces, d.forces) < 1e-12);
  CHECK(relative_difference(c.virial, d.virial) < 1e-12);
}

TEST_CASE("tensornet.order: dynamics of a large system go on with the same bytes",
          "[models][model]") {
  LoadedPotential potential(kTensorNets + "o3", two_threads());
  tasks::DynamicsState state;
  state.system = random_system(kMinOrderedAtoms, 2.6, false);
  state.velocities.assign(state.system.positions.size(), 0);
  tasks::Dynamics whole(*potential.model, state, {.time_step = 0.2});
  whole.run(1);
  tasks::Dynamics again(*potential.model, whole.state(), {.time_step = 0.2});
  whole.run(2);
  again.run(2);
  CHECK(again.state().system.positions == whole.state().system.positions);
  CHECK(again.state().velocities == whole.state().velocities);
  CHECK(again.result().energy == whole.result().energy);
}

TEST_CASE("tensornet.order: what does not fit is named by the caller's number of the atom",
          "[models]") {
  AtomSystem system = random_system(50, 2.0, false);
  system.positions[3 * 30] = -1e200;
  const EdgeRule rule{0, 3.5, false};
  CHECK_THROWS_WITH(AtomOrder({&system, 1}, rule, 1), "atom 31 has a coordinate of -1e+200");
  system = random_system(50, 2.0, false);
  PairList pairs = models::find_pairs(system.positions, nullptr, 3.5);
  system.pairs = &pairs;
  CHECK_NOTHROW(AtomOrder({&system, 1}, rule, 1));
  pairs.neighbours[0] = 1000;
  CHECK_THROWS_AS(AtomOrder({&system, 1}, rule, 1), Error);
}
