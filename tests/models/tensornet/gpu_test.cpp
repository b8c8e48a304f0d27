#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/core/error.hpp"
#include "lib/models/tensornet/order/atom_order.hpp"
#include "lib/tasks/molecule/dynamics.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/tensornet/order_support.hpp"
#include "tests/support/worse_of.hpp"
#include "tests/unit/gpu/gpu_support.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::PotentialResult;
using test::ExpectedFile;
using test::ExpectedSystem;
using test::kTensorNets;
using test::LoadedPotential;

TEST_CASE("tensornet: the GPU differs from double precision by roundings", "[model][device]") {
  if (!test::has_gpu()) return;
  const std::string name =
      GENERATE("o3", "so3_old_rows", "charges", "charges_box", "odd", "charges_odd", "matgl",
               "matgl_dgl", "zbl", "repulsion", "d2", "d2_long", "coulomb");
  CAPTURE(name);
  LoadedPotential gpu(kTensorNets + name, tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  std::vector<models::AtomSystem> systems;
  std::vector<ExpectedSystem> all_expected = ExpectedFile(kTensorNets + name).systems();
  // Products of matrices for each edge take long under emulation: the small one, and the last.
  if (name.starts_with("charges") || name == "repulsion")
    all_expected = {all_expected[1], all_expected.back()};
  for (const ExpectedSystem& one : all_expected) {
    systems.push_back(one.system);
    PotentialResult result;
    for (int pass = 0; pass < 3; ++pass) result = gpu.compute(one.system);  // recorded, repeated
    // As fp32 on a CPU: roundings of 2^-24 of sums over edges and channels, through a few layers,
    // and matrix cores that cut off instead. An atom's energy is of the size of 1 eV.
    const auto n = static_cast<double>(one.system.n_atoms());
    CHECK(std::fabs(result.energy - one.energy) < 1e-5 * n);
    double worst = 0, largest = 1;
    for (std::size_t k = 0; k < one.forces.size(); ++k) {
      worst = test::worse_of(worst, std::fabs(result.forces[k] - one.forces[k]));
      largest = std::max(largest, std::fabs(one.forces[k]));
    }
    CHECK(worst < 2e-5 * largest);
    // Distances of up to 5 A are factors of the virial.
    double worst_stress = 0, largest_stress = 1;
    for (std::size_t k = 0; k < one.stress.size(); ++k) {
      const double stress =
          result.virial[k] * models::kGpaPerEvAngstrom3 / models::volume_of(*one.system.box);
      worst_stress = test::worse_of(worst_stress, std::fabs(stress - one.stress[k]));
      largest_stress = std::max(largest_stress, std::fabs(one.stress[k]));
    }
    CHECK(worst_stress < 5e-5 * largest_stress);
  }
  const std::vector<PotentialResult> all = gpu.model->compute(systems, {true, true, true});
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const PotentialResult alone = gpu.compute(systems[s]);
    CHECK(alone.energy == all[s].energy);
    CHECK(alone.forces == all[s].forces);
    CHECK(alone.virial == all[s].virial);
  }
}

TEST_CASE("tensornet: other activations, means and boxes on a GPU", "[model][device]") {
  if (!test::has_gpu()) return;
  const nlohmann::json box = {{8.0, 0.0, 0.0}, {0.5, 7.5, 0.0}, {0.25, 0.0, 7.0}};
  const nlohmann::json changes = GENERATE_COPY(
      nlohmann::json{{"activation", "mish"}, {"reduce_op", "mean"}},
      nlohmann::json{{"activation", "ssp"}, {"box_vecs", box}},
      nlohmann::json{{"activation", "tanh"}}, nlohmann::json{{"activation", "sigmoid"}});
  std::ifstream file(kTensorNets + "o3/config.json");
  nlohmann::json config = nlohmann::json::parse(file);
  config.update(changes);
  const test::Folder folder;
  folder.write("config.json", config.dump());
  std::filesystem::copy(kTensorNets + "o3/model.safetensors", folder.path());
  LoadedPotential gpu(folder.path(), tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  LoadedPotential exact(folder.path(), ops::make_reference_context());
  for (const ExpectedSystem& one : ExpectedFile(kTensorNets + "o3").systems()) {
    const PotentialResult a = gpu.compute(one.system), b = exact.compute(one.system);
    const auto n = static_cast<double>(one.system.n_atoms());
    CHECK(std::fabs(a.energy - b.energy) < 1e-5 * n);
    double worst = 0, largest = 1;
    for (std::size_t k = 0; k < b.forces.size(); ++k) {
      worst = test::worse_of(worst, std::fabs(a.forces[k] - b.forces[k]));
      largest = std::max(largest, std::fabs(b.forces[k]));
    }
    CHECK(worst < 2e-5 * largest);
  }
}

namespace {

// The GPU's results with edges that it lists itself and with those that the host lists of pairs.
void check_same_edges(LoadedPotential& gpu, const models::AtomSystem& system) {
  const PotentialResult listed = gpu.compute(system);
  models::AtomSystem given = system;
  const models::PairList pairs = models::find_pairs(
      system.positions, system.box ? &*system.box : nullptr, gpu.model->info().cutoff + 0.3);
  given.pairs = &pairs;
  const PotentialResult expected = gpu.compute(given);
  CHECK(listed.energy == expected.energy);
  CHECK(listed.atom_energies == expected.atom_energies);
  CHECK(listed.forces == expected.forces);
  CHECK(listed.virial == expected.virial);
}

// A cube of n^3 atoms: within 4 A of an atom are only its neighbours along the axes.
models::AtomSystem cubic_lattice(int n, double spacing = 3.7) {
  models::AtomSystem system;
  for (int i = 0; i < n * n * n; ++i) {
    system.atomic_numbers.push_back(i % 2 == 0 ? 8 : 14);
    for (const int k : {i % n, i / n % n, i / (n * n)}) system.positions.push_back(spacing * k);
  }
  return system;
}

}  // namespace

TEST_CASE("tensornet: the GPU's own edges give the bytes of the host's", "[model][device]") {
  if (!test::has_gpu()) return;
  const std::string name = GENERATE("o3", "so3_old_rows", "matgl", "matgl_dgl", "d2_long");
  CAPTURE(name);
  LoadedPotential gpu(kTensorNets + name, tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  CHECK(gpu.model->info().finds_pairs == (name != "d2_long"));
  for (const ExpectedSystem& one : ExpectedFile(kTensorNets + name).systems())
    check_same_edges(gpu, one.system);
}

TEST_CASE("tensornet: a GPU's step with more edges than there was room for is repeated",
          "[model][device]") {
  if (!test::has_gpu()) return;
  LoadedPotential gpu(kTensorNets + "matgl",
                      tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  const models::AtomSystem system = cubic_lattice(3);
  // 108 edges have room for 256; of atoms so close all 702 pairs are edges, then few again.
  for (const double scale : {1.0, 0.3, 1.0, 1.0}) {
    models::AtomSystem scaled = system;
    for (double& x : scaled.positions) x *= scale;
    check_same_edges(gpu, scaled);
  }
}

namespace {

models::TensorNet& tensornet_of(LoadedPotential& loaded) {
  return dynamic_cast<models::TensorNet&>(*loaded.model);
}

// The systems in one call and each on its own, by models of their own.
void check_alone(LoadedPotential& gpu, LoadedPotential& single,
                 const std::vector<models::AtomSystem>& systems) {
  const std::vector<PotentialResult> all = gpu.model->compute(systems, {true, true, true});
  REQUIRE(all.size() == systems.size());
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const PotentialResult alone = single.compute(systems[s]);
    CHECK(all[s].energy == alone.energy);
    CHECK(all[s].atom_energies == alone.atom_energies);
    CHECK(all[s].forces == alone.forces);
    CHECK(all[s].virial == alone.virial);
  }
}

LoadedPotential open_on_gpu() {
  return {kTensorNets + "matgl", tensor::make_gpu_context(0, {tensor::Precision::fp32})};
}

}  // namespace

TEST_CASE("tensornet: a GPU's call in parts gives the bytes of each system", "[model][device]") {
  if (!test::has_gpu()) return;
  LoadedPotential gpu = open_on_gpu(), single = open_on_gpu();
  models::TensorNet& model = tensornet_of(gpu);
  const auto n_passes = [&] {
    const models::TensorNet::Passes& n = model.n_passes();
    return std::vector<std::int64_t>{n.counting, n.on_device_edges, n.on_host_edges};
  };
  using Counts = std::vector<std::int64_t>;
  // 24, 108, 24, 0 and 108 edges.
  std::vector<models::AtomSystem> systems{cubic_lattice(2), cubic_lattice(3), cubic_lattice(2),
                                          cubic_lattice(1), cubic_lattice(3)};
  SECTION("few edges a pass") {
    model.limit_passes({.edges = 132});
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{1, 2, 0});
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{1, 4, 0});
    model.limit_passes({.edges = 1});
    systems.pop_back();  // planned again: 108, 24 and 0
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{2, 8, 0});
  }
  SECTION("few atoms at a time") {
    model.limit_passes({.counted_atoms = 35});
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{3, 3, 0});  // 35, 9 and 27 atoms
  }
  SECTION("pairs are given for some") {
    const models::PairList few = models::find_pairs(systems[0].positions, nullptr, 4.2),
                           many = models::find_pairs(systems[4].positions, nullptr, 4.2);
    systems[2].pairs = &few;
    systems[4].pairs = &many;
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{2, 2, 2});
    std::swap(systems[0], systems[2]);  // given first, then two and two
    systems[3] = systems[4];
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{3, 3, 4});
  }
  SECTION("many neighbours to expect") {
    for (models::AtomSystem& system : systems)
      system.box = models::Box{11, 0, 0, 0, 11, 0, 0, 0, 11};
    model.limit_passes({.neighbours = 4.5});  // 8 atoms: 1.6 expected, 27 atoms: 5.4
    check_alone(gpu, single, systems);
    CHECK(n_passes() == Counts{2, 2, 2});
  }
}

TEST_CASE("tensornet: a GPU's plan of sparse systems does not hold for dense ones",
          "[model][device]") {
  if (!test::has_gpu()) return;
  LoadedPotential gpu = open_on_gpu(), single = open_on_gpu();
  models::TensorNet& model = tensornet_of(gpu);
  const std::vector<models::AtomSystem> sparse(3, cubic_lattice(2)),  // 24 edges each
      dense(3, cubic_lattice(2, 1.8));                                // 56 each
  model.limit_passes({.edges = 150});
  check_alone(gpu, single, sparse);
  CHECK(model.n_passes().counting == 1);
  CHECK(model.n_passes().on_device_edges == 1);
  // The pass of all three has room for 168 edges and results; the next call has parts of two and
  // one.
  check_alone(gpu, single, dense);
  CHECK(model.n_passes().counting == 1);
  CHECK(model.n_passes().on_device_edges == 2);
  check_alone(gpu, single, dense);
  CHECK(model.n_passes().counting == 2);
  CHECK(model.n_passes().on_device_edges == 4);
  // Two parts of sparse systems, then one.
  check_alone(gpu, single, sparse);
  CHECK(model.n_passes().on_device_edges == 6);
  check_alone(gpu, single, sparse);
  CHECK(model.n_passes().counting == 3);
  CHECK(model.n_passes().on_device_edges == 7);
}

TEST_CASE("tensornet: a GPU's pass that is far too small is planned again", "[model][device]") {
  if (!test::has_gpu()) return;
  LoadedPotential gpu = open_on_gpu(), single = open_on_gpu();
  models::TensorNet& model = tensornet_of(gpu);
  const std::vector<models::AtomSystem> sparse(2, cubic_lattice(3)),  // 108 edges each
      dense(2, cubic_lattice(3, 1.8));                                // many more
  model.limit_passes({.edges = 250});
  check_alone(gpu, single, sparse);
  CHECK(model.n_passes().counting == 1);
  CHECK(model.n_passes().on_device_edges == 1);
  check_alone(gpu, single, dense);  // a void pass, and one for each system
  CHECK(model.n_passes().counting == 2);
  CHECK(model.n_passes().on_device_edges == 4);
}

TEST_CASE("tensornet: neighbours to expect in a box", "[model]") {
  models::AtomSystem system = cubic_lattice(2);
  CHECK(models::tensornet::expected_neighbours(system, 4) == 0);
  system.box = models::Box{10, 0, 0, 0, 10, 0, 0, 0, 10};
  CHECK(std::fabs(models::tensornet::expected_neighbours(system, 4) - 2.1447) < 1e-3);
  system.box = models::Box{1000, 0, 0, 0, 1000, 0, 0, 0, 0.1};
  CHECK(std::fabs(models::tensornet::expected_neighbours(system, 4) - 80) < 1e-9);
}

TEST_CASE("tensornet: what no list of pairs can be made of is refused on a GPU too", "[device]") {
  if (!test::has_gpu()) return;
  LoadedPotential gpu(kTensorNets + "matgl",
                      tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  models::AtomSystem system;
  system.atomic_numbers = {8, 14};
  system.positions = {0, 0, 0, 1.5, 0, 1e10};
  const auto compute = [&] { gpu.model->compute({&system, 1}, {}); };
  CHECK_NOTHROW(compute());
  system.box = models::Box{5, 0, 0, 0, 5, 0, 0, 0, 5};
  CHECK_THROWS_WITH(compute(), "atom 2 is too far from its box");
  system.positions[5] = 1;
  system.box = models::Box{5, 0, 0, 0, 5, 0, 0, 0, 0.05};
  CHECK_THROWS_WITH(compute(), "the box is 0.05 A wide, much less than the cutoff of 4 A");
  system.box.reset();
  system.positions[5] = NAN;
  CHECK_THROWS_WITH(compute(), "atom 2 has a coordinate of nan");
}

TEST_CASE("tensornet: a large system's bytes on a GPU do not depend on the order of its atoms",
          "[model][device]") {
  if (!test::has_gpu() || test::is_second_width()) return;
  LoadedPotential gpu(kTensorNets + "o3", tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  // Few neighbours: emulation takes long.
  const models::AtomSystem system =
      test::random_system(models::tensornet::kMinOrderedAtoms, 3.4, true);
  const test::Shuffled shuffled(system);
  const models::PotentialModel::Request request{true, false, true};
  const PotentialResult result = gpu.model->compute({&system, 1}, request)[0],
                        other = gpu.model->compute({&shuffled.system, 1}, request)[0];
  CHECK(other.energy == result.energy);
  CHECK(other.forces == shuffled.of(result.forces, 3));
  CHECK(other.atom_energies == shuffled.of(result.atom_energies, 1));
  const models::PairList pairs = models::find_pairs(system.positions, &*system.box, 3.6);
  models::AtomSystem given = system;
  given.pairs = &pairs;
  CHECK(gpu.model->compute({&given, 1}, request)[0].forces == result.forces);
}

TEST_CASE("tensornet: dynamics on a GPU have no list of pairs", "[model][device]") {
  if (!test::has_gpu()) return;
  LoadedPotential gpu(kTensorNets + "o3", tensor::make_gpu_context(0, {tensor::Precision::fp32}));
  tasks::DynamicsState state;
  state.system = ExpectedFile(kTensorNets + "o3").systems()[0].system;
  state.velocities.assign(state.system.positions.size(), 0);
  tasks::Dynamics dynamics(*gpu.model, state, {.time_step = 0.1});
  dynamics.run(3);
  CHECK(dynamics.n_lists() == 0);
  CHECK(dynamics.state().system.positions != state.system.positions);
  const PotentialResult plain = gpu.compute(dynamics.state().system);
  CHECK(dynamics.result().energy == plain.energy);
  CHECK(dynamics.result().forces == plain.forces);
}

TEST_CASE("tensornet: 16-bit precisions are refused on a GPU", "[model][device]") {
  if (!test::has_gpu()) return;
  CHECK_THROWS_AS(
      LoadedPotential(kTensorNets + "o3", tensor::make_gpu_context(0, {tensor::Precision::fp16})),
      Error);
}
