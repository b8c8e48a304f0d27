#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "lib/core/error.hpp"
#include "lib/tasks/molecule/dynamics.hpp"
#include "tests/models/tensornet/model_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

using namespace biogpu;
using models::AtomSystem;
using models::PotentialResult;
using test::ExpectedFile;
using test::ExpectedSystem;
using test::kTensorNets;
using test::LoadedPotential;
using test::without_references;
using test::worse_of;

namespace {

const std::vector<std::string> kCases{
    "o3",        "so3_old_rows", "charges", "charges_box", "matgl",     "matgl_dgl", "zbl",
    "repulsion", "d2",           "d2_long", "coulomb",     "mish_mean", "no_layers", "box_vecs"};

double largest(const std::vector<double>& numbers) {
  double size = 0;
  for (const double x : numbers) size = std::max(size, std::fabs(x));
  return size;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = worse_of(worst, std::fabs(a[i] - b[i]));
  return worst;
}

std::unique_ptr<tensor::Context> cpu() { return ops::make_cpu_context(2); }

// Positions, and box if there is one, by a 3 x 3 map: rows times the map.
AtomSystem mapped(const AtomSystem& system, const std::array<double, 9>& map) {
  AtomSystem to = system;
  const auto apply = [&](const double* from, double* rows, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        rows[3 * i + k] = 0;
        for (std::size_t l = 0; l < 3; ++l) rows[3 * i + k] += from[3 * i + l] * map[3 * l + k];
      }
  };
  apply(system.positions.data(), to.positions.data(), system.n_atoms());
  if (system.box) apply(system.box->data(), to.box->data(), 3);
  return to;
}

}  // namespace

TEST_CASE("tensornet: energies, forces and stress in fp64 are those of the originals",
          "[models][model]") {
  const std::string name = GENERATE(from_range(kCases));
  CAPTURE(name);
  LoadedPotential potential(kTensorNets + name, ops::make_reference_context());
  LoadedPotential plain(kTensorNets + name, ops::make_reference_context(),
                        without_references(name));
  const std::vector<ExpectedSystem> expected = ExpectedFile(kTensorNets + name).systems();
  REQUIRE(expected.size() >= 4);
  // Tables of distances differ by 2e-9 of their largest slope; sums over edges and layers keep a
  // few of these. Stress has the box's volume and 160 GPa for each eV / A^3 in it too.
  for (const ExpectedSystem& one : expected) {
    const PotentialResult result = potential.compute(one.system);
    CHECK(std::fabs(result.energy - one.energy) < 1e-8 * std::max(1.0, std::fabs(one.energy)));
    CHECK(std::fabs(plain.energy(one.system) - one.energy_without_references) <
          1e-8 * std::max(1.0, std::fabs(one.energy)));
    CHECK(difference(result.forces, one.forces) < 3e-8 * std::max(1.0, largest(one.forces)));
    if (one.stress.empty()) continue;
    std::vector<double> stress(result.virial.begin(), result.virial.end());
    for (double& x : stress) x *= models::kGpaPerEvAngstrom3 / models::volume_of(*one.system.box);
    CHECK(difference(stress, one.stress) < 1e-7 * std::max(1.0, largest(one.stress)));
  }
}

TEST_CASE("tensornet: fp32 on a CPU differs from fp64 by roundings", "[models][model]") {
  const std::string name = GENERATE(from_range(kCases));
  CAPTURE(name);
  LoadedPotential single(kTensorNets + name, cpu()),
      exact(kTensorNets + name, ops::make_reference_context());
  for (const ExpectedSystem& one : ExpectedFile(kTensorNets + name).systems()) {
    const PotentialResult a = single.compute(one.system), b = exact.compute(one.system);
    // Roundings of 2^-24 = 6e-8 of sums of some tens of edges and channels, through a few layers,
    // twice for gradients; the virial multiplies them by distances of up to 5 A.
    CHECK(difference(a.atom_energies, b.atom_energies) <
          1e-5 * std::max(1.0, largest(b.atom_energies)));
    CHECK(difference(a.forces, b.forces) < 2e-5 * std::max(1.0, largest(b.forces)));
    CHECK(difference({a.virial.begin(), a.virial.end()}, {b.virial.begin(), b.virial.end()}) <
          5e-5 * std::max(1.0, largest({b.virial.begin(), b.virial.end()})));
  }
}

TEST_CASE("tensornet: forces and virial are slopes of the energy", "[models][model]") {
  const std::string name = GENERATE(from_range(kCases));
  CAPTURE(name);
  LoadedPotential potential(kTensorNets + name, ops::make_reference_context());
  const std::vector<ExpectedSystem> expected = ExpectedFile(kTensorNets + name).systems();
  const std::size_t which = name.starts_with("matgl") ? 1
                            : name == "charges"       ? 2
                                                      : 4;  // in a box, if any
  const AtomSystem system = expected[which].system;
  const PotentialResult result = potential.compute(system);
  // Central differences leave the step's square, 1e-8, times third derivatives; and tables bend at
  // the ends of their intervals, where a second derivative jumps.
  constexpr double kStep = 1e-4;
  for (std::size_t k = 0; k < std::min<std::size_t>(9, system.positions.size()); ++k) {
    AtomSystem up = system, down = system;
    up.positions[k] += kStep;
    down.positions[k] -= kStep;
    const double slope = (potential.energy(up) - potential.energy(down)) / (2 * kStep);
    CHECK(std::fabs(slope + result.forces[k]) < 3e-6 * std::max(1.0, largest(result.forces)));
  }
  for (std::size_t k = 0; k < 9; ++k) {
    std::array<double, 9> up{1, 0, 0, 0, 1, 0, 0, 0, 1}, down = up;
    up[k] += kStep;
    down[k] -= kStep;
    const double slope =
        (potential.energy(mapped(system, up)) - potential.energy(mapped(system, down))) /
        (2 * kStep);
    CHECK(std::fabs(slope - result.virial[k]) <
          3e-6 * std::max(1.0, largest({result.virial.begin(), result.virial.end()})));
  }
}

TEST_CASE("tensornet: rotations turn forces, translations and order change nothing",
          "[models][model]") {
  const std::string name = GENERATE(from_range(kCases));
  if (name == "box_vecs") return;  // its box does not turn
  LoadedPotential potential(kTensorNets + name, ops::make_reference_context());
  const AtomSystem system = ExpectedFile(kTensorNets + name).systems()[0].system;
  const PotentialResult result = potential.compute(system);
  const double c = std::cos(0.7), s = std::sin(0.7);
  const bool mirrored = GENERATE(false, true);
  const std::array<double, 9> turn{c, s, 0, -s, c, 0, 0, 0, mirrored ? -1.0 : 1.0};
  AtomSystem turned = mapped(system, turn);
  for (std::size_t k = 0; k < turned.positions.size(); ++k)
    turned.positions[k] += 3 * static_cast<double>(k % 3) - 2;
  std::reverse(turned.atomic_numbers.begin(), turned.atomic_numbers.end());
  std::reverse(turned.partial_charges.begin(), turned.partial_charges.end());
  const std::size_t n = system.n_atoms();
  const std::vector<double> x = turned.positions;
  for (std::size_t i = 0; i < n; ++i)
    std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(3 * i), 3,
                turned.positions.begin() + static_cast<std::ptrdiff_t>(3 * (n - 1 - i)));
  const PotentialResult other = potential.compute(turned);
  if (mirrored && (name == "so3_old_rows" || name == "mish_mean")) {
    CHECK(std::fabs(other.energy - result.energy) > 1e-4);  // SO(3) tells hands apart
    return;
  }
  // Turned positions are rounded to 2^-53, and steep functions of distances make more of that.
  CHECK(std::fabs(other.energy - result.energy) < 1e-9 * std::fabs(result.energy) + 1e-9);
  AtomSystem forces = system;
  forces.positions = result.forces;
  forces.box.reset();
  const std::vector<double> expected = mapped(forces, turn).positions;
  double worst = 0, sums[3] = {};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      worst = worse_of(worst, std::fabs(other.forces[3 * (n - 1 - i) + k] - expected[3 * i + k]));
      sums[k] += result.forces[3 * i + k];
    }
  CHECK(worst < 1e-8 * largest(result.forces));
  // Forces of a pair are opposite numbers: only their sums are rounded.
  for (const double sum : sums) CHECK(std::fabs(sum) < 1e-10 * largest(result.forces));
}

TEST_CASE("tensornet: a system's bytes are the same alone, in a batch, with any threads",
          "[models][model]") {
  const std::string name = GENERATE(from_range(kCases));
  LoadedPotential two(kTensorNets + name, cpu()), one(kTensorNets + name, ops::make_cpu_context(1));
  std::vector<AtomSystem> systems;
  for (const ExpectedSystem& expected : ExpectedFile(kTensorNets + name).systems())
    systems.push_back(expected.system);
  const std::vector<PotentialResult> all = two.model->compute(systems, {true, true, true});
  REQUIRE(all.size() == systems.size());
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const PotentialResult alone = one.compute(systems[s]);
    // A factor of 1 is multiplied where a system of the batch has a charge.
    CHECK(alone.energy == all[s].energy);
    CHECK(alone.forces == all[s].forces);
    CHECK(alone.virial == all[s].virial);
  }
}

TEST_CASE("tensornet: a list of pairs with room to spare gives the same bytes", "[models][model]") {
  const std::string name = GENERATE(from_range(kCases));
  LoadedPotential potential(kTensorNets + name, cpu());
  for (const ExpectedSystem& expected : ExpectedFile(kTensorNets + name).systems()) {
    AtomSystem system = expected.system;
    const PotentialResult plain = potential.compute(system);
    const models::PairList pairs =
        models::find_pairs(system.positions, system.box ? &*system.box : nullptr,
                           potential.model->info().cutoff + 0.5);
    system.pairs = &pairs;
    const PotentialResult listed = potential.compute(system);
    CHECK(listed.energy == plain.energy);
    CHECK(listed.forces == plain.forces);
  }
}

TEST_CASE("tensornet: lists of pairs that searches cannot rely on are refused", "[models]") {
  LoadedPotential potential(kTensorNets + "matgl", cpu());
  AtomSystem system = ExpectedFile(kTensorNets + "matgl").systems()[1].system;
  REQUIRE(system.box.has_value());
  const models::PairList right =
      models::find_pairs(system.positions, &*system.box, potential.model->info().cutoff);
  REQUIRE(right.starts[1] > 1);
  models::PairList pairs = right;
  system.pairs = &pairs;
  CHECK_NOTHROW(potential.compute(system));
  std::swap(pairs.neighbours[0], pairs.neighbours[1]);
  std::swap(pairs.shifts[0], pairs.shifts[1]);
  CHECK_THROWS_AS(potential.compute(system), Error);
  pairs = right;
  pairs.neighbours[0] = 0;
  pairs.shifts[0] = {0, 0, 0};
  CHECK_THROWS_AS(potential.compute(system), Error);
  pairs = right;
  pairs.shifts[0][0] = std::numeric_limits<std::int32_t>::min();
  CHECK_THROWS_AS(potential.compute(system), Error);
}

TEST_CASE("tensornet: pairs of a prior are listed both ways round", "[models]") {
  LoadedPotential potential(kTensorNets + "d2_long", cpu());
  AtomSystem system;
  system.atomic_numbers = {8, 6};
  system.positions = {0, 0, 0, 5, 0, 0};  // beyond the network's cutoff, within the prior's
  models::PairList pairs{8, {0, 1, 2}, {1, 0}, {}};
  const PotentialResult plain = potential.compute(system);
  CHECK(largest(plain.forces) > 1e-6);
  system.pairs = &pairs;
  CHECK(potential.compute(system).forces == plain.forces);
  pairs = {8, {0, 1, 1}, {1}, {}};
  CHECK_THROWS_WITH(potential.compute(system), "a list of pairs has a pair one way round alone");
  pairs = {8, {0, 0, 1}, {0}, {}};
  CHECK_THROWS_WITH(potential.compute(system), "a list of pairs has a pair one way round alone");
  system.positions[3] = 8.5;  // beyond both
  CHECK_NOTHROW(potential.compute(system));
  // The same of images: rows are sorted by the shift too.
  system.positions[3] = 11;
  system.box = models::Box{16, 0, 0, 0, 16, 0, 0, 0, 16};
  pairs = models::find_pairs(system.positions, &*system.box, 17);
  CHECK_NOTHROW(potential.compute(system));
  std::size_t p = 0;
  while (pairs.neighbours[p] != 1 || pairs.shifts[p] != std::array<std::int32_t, 3>{-1, 0, 0}) ++p;
  REQUIRE(p < static_cast<std::size_t>(pairs.starts[1]));
  pairs.shifts.erase(pairs.shifts.begin() + static_cast<std::ptrdiff_t>(p));
  pairs.neighbours.erase(pairs.neighbours.begin() + static_cast<std::ptrdiff_t>(p));
  for (std::size_t i = 1; i <= 2; ++i) pairs.starts[i] -= 1;
  CHECK_THROWS_WITH(potential.compute(system), "a list of pairs has a pair one way round alone");
}

TEST_CASE("tensornet: the prior Coulomb is of all pairs, and needs charges", "[models]") {
  LoadedPotential potential(kTensorNets + "coulomb", ops::make_reference_context());
  AtomSystem system;
  system.atomic_numbers = {8, 6};
  system.positions = {0, 0, 0, 12, 0, 0};  // beyond the network's cutoff and the switch
  CHECK_THROWS_WITH(potential.compute(system), ContainsSubstring("needs partial charges"));
  system.partial_charges = {0.5};
  CHECK_THROWS_WITH(potential.compute(system), ContainsSubstring("2 atoms have 1 partial charges"));
  system.partial_charges = {0.5, HUGE_VAL};
  CHECK_THROWS_WITH(potential.compute(system), "a partial charge is not finite");
  // kcal/mol: e^2 / (4 pi epsilon_0) is 332.06 kcal/mol A, and torchmd-net divides by nm.
  system.partial_charges = {0.5, -0.25};
  const PotentialResult result = potential.compute(system);
  CHECK(std::fabs(result.forces[0] - 10 * 332.06 * 0.125 / 144) < 1e-3);
  CHECK(result.forces[3] == -result.forces[0]);
  // Below the switch there is nothing of it.
  system.positions[3] = 1.25;
  const PotentialResult close = potential.compute(system);
  system.partial_charges = {0, 0};
  CHECK(potential.compute(system).energy == close.energy);
  // In a box the other way is shorter.
  system.positions[3] = 12;
  system.partial_charges = {0.5, -0.25};
  system.box = models::Box{20, 0, 0, 0, 20, 0, 0, 0, 20};
  const PotentialResult boxed = potential.compute(system);
  CHECK(std::fabs(boxed.forces[0] + 10 * 332.06 * 0.125 / 64) < 1e-3);
  system.positions[3] = -28;
  CHECK(std::fabs(potential.compute(system).energy - boxed.energy) <
        1e-12 * std::fabs(boxed.energy));
}

TEST_CASE("tensornet: a prior's longer cutoff is the model's", "[models]") {
  LoadedPotential potential(kTensorNets + "d2_long", ops::make_reference_context());
  CHECK(potential.model->info().cutoff == 8);
  AtomSystem system = ExpectedFile(kTensorNets + "d2_long").systems()[4].system;
  REQUIRE(system.box.has_value());
  const models::PairList narrow = models::find_pairs(system.positions, &*system.box, 7.9);
  system.pairs = &narrow;
  CHECK_THROWS_WITH(potential.compute(system), "a list of pairs is of a smaller cutoff");
  // Wide enough for the network alone.
  system = ExpectedFile(kTensorNets + "d2").systems()[4].system;
  REQUIRE(system.box.has_value());
  CHECK_THROWS_WITH(potential.compute(system), ContainsSubstring("the model needs at least 16 A"));
}

TEST_CASE("tensornet: dynamics list pairs up to a prior's longer cutoff", "[models]") {
  LoadedPotential potential(kTensorNets + "d2_long", ops::make_reference_context());
  tasks::DynamicsState state;
  state.system = ExpectedFile(kTensorNets + "d2_long").systems()[4].system;
  state.velocities.assign(state.system.positions.size(), 0);
  tasks::Dynamics dynamics(*potential.model, state, {.time_step = 0.1});
  dynamics.run(1);
  CHECK(dynamics.n_lists() == 1);
  AtomSystem moved = dynamics.state().system;
  CHECK(moved.positions != state.system.positions);
  moved.pairs = nullptr;
  const PotentialResult plain = potential.compute(moved);
  CHECK(dynamics.result().energy == plain.energy);
  CHECK(dynamics.result().forces == plain.forces);
}

TEST_CASE("tensornet: a box of the configuration is of systems that have none", "[models]") {
  LoadedPotential potential(kTensorNets + "box_vecs", ops::make_reference_context());
  AtomSystem system;
  system.atomic_numbers = {8, 6};
  system.positions = {0.1, 0.2, 0.3, 7.05, 0.4, 0.1};  // neighbours across the first vector alone
  const double energy = potential.compute(system).energy;
  system.box = {7.25, 0, 0, 1.5, 7.5, 0, -2, 1.25, 8};
  CHECK(std::fabs(potential.compute(system).energy - energy) < 1e-12 * std::fabs(energy));
  const std::vector<double> forces = potential.compute(system).forces;
  CHECK(largest(forces) > 1e-3);
  // A list of pairs of a system without a box lacks them.
  system.box.reset();
  const models::PairList pairs = models::find_pairs(system.positions, nullptr, 3.5);
  system.pairs = &pairs;
  CHECK(difference(potential.compute(system).forces, forces) < 1e-12);
  system.pairs = nullptr;
  system.box = {11, 0, 0, 0, 11, 0, 0, 0, 11};
  CHECK(largest(potential.compute(system).forces) < 1e-3 * largest(forces));
  system.box.reset();
  system.positions = {0.1, 0.2, 0.3, 7.35, 0.2, 0.3};
  CHECK_THROWS_WITH(potential.model->check(system), "atoms 1 and 2 are at one place");
}

TEST_CASE("tensornet: two supercells have twice the energy, an atom at the cutoff no jump",
          "[models][model]") {
  LoadedPotential potential(kTensorNets + "matgl", ops::make_reference_context());
  const AtomSystem cell = ExpectedFile(kTensorNets + "matgl").systems()[1].system;
  AtomSystem twice = cell;
  for (std::size_t i = 0; i < cell.n_atoms(); ++i) {
    twice.atomic_numbers.push_back(cell.atomic_numbers[i]);
    for (std::size_t k = 0; k < 3; ++k)
      twice.positions.push_back(cell.positions[3 * i + k] + (*cell.box)[k]);
  }
  for (std::size_t k = 0; k < 3; ++k) (*twice.box)[k] *= 2;
  const double offset = potential.model->info().energy_offset;
  // The same atoms, summed in fp64 in another order.
  CHECK(std::fabs(potential.energy(twice) - offset - 2 * (potential.energy(cell) - offset)) <
        1e-9 * std::fabs(potential.energy(twice)));
  AtomSystem pair;
  pair.atomic_numbers = {8, 14};
  const auto apart = [&](double distance) {
    pair.positions = {0, 0, 0, distance, 0, 0};
    return potential.compute(pair);
  };
  const PotentialResult inside = apart(4.0 - 1e-7), outside = apart(4.0 + 1e-7);
  // The energy ends with its slope at the cutoff: 1e-7 A before it both are almost none.
  CHECK(std::fabs(inside.energy - outside.energy) < 1e-10);
  CHECK(largest(inside.forces) < 1e-5);
  CHECK(largest(outside.forces) == 0);
  CHECK(largest(apart(3.0).forces) > 1e-3);
}
