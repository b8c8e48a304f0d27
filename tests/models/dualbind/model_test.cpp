#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "tests/models/dualbind/model_support.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::DualBind;
using models::dualbind::Complex;
using molecule::MoleculeGraph;
using test::energies_of;
using test::load_dualbind;
using test::make_complexes;

namespace {

constexpr std::size_t kPocket = 12;

std::vector<Complex> all_complexes() {
  return make_complexes(test::read_ligands(), test::read_protein(), kPocket);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - b[i]));
  return worst;
}

// Moves every atom of a complex.
template <class Move>
void move_atoms(Complex& complex, const Move& move) {
  for (std::size_t a = 0; a < complex.ligand.n_atoms(); ++a) move(&complex.ligand.positions[3 * a]);
  for (std::size_t a = 0; a < complex.pocket.kinds.size(); ++a) {
    double at[3];
    for (std::size_t i = 0; i < 3; ++i) at[i] = complex.pocket.positions[3 * a + i];
    move(at);
    for (std::size_t i = 0; i < 3; ++i)
      complex.pocket.positions[3 * a + i] = static_cast<float>(at[i]);
  }
}

std::string load_error(const std::string& folder) {
  const auto context = ops::make_cpu_context(1);
  try {
    models::load_model<DualBind>(folder, "affinity", *context);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("dualbind: energies and stages of PyTorch in double precision", "[model]") {
  if (!molecule::has_molecule_graphs()) return;
  const bool is_reference = GENERATE(false, true);
  const auto context = is_reference ? ops::make_reference_context() : ops::make_cpu_context(2);
  const auto model = load_dualbind(*context);
  std::vector<Complex> complexes = all_complexes();
  // PyTorch's own fp32 form differs by 1.6e-6 at energies of up to 10.
  CHECK(largest_difference(energies_of(model->compute(complexes)), test::expected_energies()) <
        (is_reference ? 1e-6 : 4e-6));
  complexes.resize(4);
  const DualBind::Stages stages = model->compute_stages(complexes);
  CHECK(largest_difference(stages.atoms, test::expected_floats("atoms")) < 3e-6);
  // The reference has ligand and pocket of a complex together; here all ligands come first.
  const std::vector<float> expected = test::expected_floats("tokens");
  const auto width = static_cast<std::size_t>(model->config().width);
  std::vector<float> ligands, pockets;
  for (auto at = expected.begin(); const Complex& complex : complexes) {
    const auto n_ligand = static_cast<std::ptrdiff_t>(complex.ligand_tokens.size() * width);
    const auto n = static_cast<std::ptrdiff_t>(complex.n_tokens() * width);
    REQUIRE(n <= expected.end() - at);
    ligands.insert(ligands.end(), at, at + n_ligand);
    pockets.insert(pockets.end(), at + n_ligand, at + n);
    at += n;
  }
  ligands.insert(ligands.end(), pockets.begin(), pockets.end());
  CHECK(largest_difference(stages.tokens, ligands) < 5e-6);
}

TEST_CASE("dualbind: the same bytes alone, in any batch and with any threads", "[model]") {
  if (!molecule::has_molecule_graphs()) return;
  const std::vector<Complex> complexes = all_complexes();
  const auto one = ops::make_cpu_context(1), two = ops::make_cpu_context(2);
  const std::vector<double> together = energies_of(load_dualbind(*two)->compute(complexes));
  const auto model = load_dualbind(*one);
  CHECK(energies_of(model->compute(complexes)) == together);
  for (std::size_t i = 0; i < complexes.size(); ++i)
    CHECK(model->compute({&complexes[i], 1}).at(0).energies.at(0) == together[i]);
}

TEST_CASE("dualbind: rotations, reflections and moves change nothing", "[model]") {
  if (!molecule::has_molecule_graphs()) return;
  const auto context = ops::make_cpu_context(2);
  const auto model = load_dualbind(*context);
  std::vector<Complex> complexes = all_complexes();
  const std::vector<double> before = energies_of(model->compute(complexes));
  for (Complex& complex : complexes)
    move_atoms(complex, [](double* x) {
      const double turned[3] = {0.8 * x[0] - 0.6 * x[1], 0.6 * x[0] + 0.8 * x[1], -x[2]};
      for (int i = 0; i < 3; ++i) x[i] = turned[i] + 3;
    });
  CHECK(largest_difference(energies_of(model->compute(complexes)), before) < 1e-4);
}

TEST_CASE("dualbind: a ligand's atoms in another order give the same", "[model]") {
  if (!molecule::has_molecule_graphs()) return;
  const auto context = ops::make_cpu_context(2);
  const auto model = load_dualbind(*context);
  MoleculeGraph ligand = test::read_ligands().at(0), other;
  const auto n = static_cast<std::int32_t>(ligand.n_atoms());
  for (std::int32_t a = 0; a < n; ++a) {
    const std::size_t from = static_cast<std::size_t>((a * 3 + 1) % n);
    REQUIRE(n % 3 != 0);
    other.positions.insert(other.positions.end(), &ligand.positions[3 * from],
                           &ligand.positions[3 * from] + 3);
    const auto features = ligand.atom_features.begin() +
                          static_cast<std::ptrdiff_t>(from * MoleculeGraph::kAtomFeatures);
    other.atom_features.insert(other.atom_features.end(), features,
                               features + MoleculeGraph::kAtomFeatures);
  }
  const auto place_of = [&](std::int32_t atom) {
    for (std::int32_t a = 0; a < n; ++a)
      if ((a * 3 + 1) % n == atom) return a;
    return -1;
  };
  for (const std::int32_t atom : ligand.bond_atoms) other.bond_atoms.push_back(place_of(atom));
  other.bond_features = ligand.bond_features;
  const auto complexes = make_complexes({ligand, other}, test::read_protein(), kPocket);
  const auto results = model->compute(complexes);
  CHECK(std::fabs(results[0].energies[0] - results[1].energies[0]) < 1e-5);
}

TEST_CASE("dualbind: far ligands, atoms at the origin, molecules without bonds", "[model]") {
  if (!molecule::has_molecule_graphs()) return;
  const auto context = ops::make_cpu_context(2);
  const auto model = load_dualbind(*context);
  const auto protein = test::read_protein();
  MoleculeGraph far = test::read_ligands().at(1), atoms = far;
  for (double& x : far.positions) x += 500;
  atoms.bond_atoms.clear();
  atoms.bond_features.clear();
  std::fill_n(atoms.positions.begin(), 3, 0.0);
  const auto complexes = make_complexes({far, atoms}, protein, kPocket);
  CHECK(complexes[1].ligand_tokens.size() == atoms.n_atoms() - 1);
  const auto results = model->compute(complexes);
  CHECK(results[0].energies[0] == 0);
  CHECK(std::isfinite(results[1].energies[0]));
  CHECK(results[1].energies[0] != 0);
  CHECK(model->compute({}).empty());
  MoleculeGraph two = far;
  two.positions.resize(6);
  CHECK_THROWS_WITH(models::dualbind::make_complex(two, protein, kPocket),
                    "has 2 heavy atoms; expected 3 or more");
}

TEST_CASE("dualbind: a pocket has the nearest residues, in their order", "[model]") {
  std::vector<structure::Residue> residues;
  for (int r = 0; r < 5; ++r) {
    structure::Residue& residue = residues.emplace_back();
    residue.name = r == 2 ? "MSE" : "GLY";
    residue.atoms = {{"CA", {10.0f - 2 * r, 0, 0}}, {"N", {10.0f - 2 * r, 1, 0}}};
  }
  residues[3].atoms[0].position = {1e-5f, 0, 0};  // as missing as MSE's
  const auto protein = models::dualbind::make_protein(residues);
  CHECK(protein.n_unknown == 1);
  CHECK(protein.kinds.size() == 7);
  const auto near = models::dualbind::choose_pocket(protein, {8.5, 0, 0}, 2);
  CHECK(near.positions == std::vector<float>{10, 1, 0, 10, 0, 0, 8, 1, 0, 8, 0, 0});
  CHECK(near.n_without_alpha == 0);
  // Residues without CA count as lying at the origin.
  const auto origin = models::dualbind::choose_pocket(protein, {0, 0, 0}, 2);
  CHECK(origin.positions == std::vector<float>{4, 1, 0});
  CHECK(origin.n_without_alpha == 1);
  CHECK(models::dualbind::choose_pocket(protein, {0, 0, 0}, 50).kinds.size() == 7);
}

TEST_CASE("dualbind: checkpoints of an ensemble give their own energies", "[model]") {
  if (!molecule::has_molecule_graphs()) return;
  const auto context = ops::make_cpu_context(2);
  const auto model = load_dualbind(*context, {test::kDualBind});
  CHECK(model->n_members() == 2);
  const auto results = model->compute(all_complexes());
  for (const DualBind::Result& result : results) {
    REQUIRE(result.energies.size() == 2);
    CHECK(result.energies[0] == result.energies[1]);
  }
}

TEST_CASE("dualbind: a folder is described without its numbers", "[model]") {
  const std::string text = models::describe_model(test::kDualBind);
  CHECK(text.starts_with("architecture\tDualBind\nwidth\t32\n"));
  CHECK(text.find("\npocket_size\t12 residues\n") != std::string::npos);
  CHECK(text.find("\nparameters\t28") != std::string::npos);
  CHECK(text.find("not for commercial use") != std::string::npos);
}

TEST_CASE("dualbind: folders that do not fit are refused", "[model]") {
  const test::Folder folder;
  const std::string config = folder.path("config.json"), weights = folder.path("model.safetensors");
  std::filesystem::copy(test::kDualBind + "/model.safetensors", weights);
  const auto write = [&](const std::string& keys) {
    folder.write("config.json", "{\"model_type\": \"dualbind\", " + keys + "}");
  };
  write("\"hidden_size\": 32, \"num_heads\": 2, \"ff_size\": 48, \"pocket_size\": 12");
  CHECK(load_error(folder.path()).empty());
  write("\"hidden_size\": 32, \"num_heads\": 2, \"ff_size\": 47");
  CHECK(load_error(folder.path()).find("encoder.encoder.linear1.weight") != std::string::npos);
  write("\"hidden_size\": 32, \"num_heads\": 3, \"ff_size\": 48");
  CHECK(load_error(folder.path()) == config + ": hidden_size is no multiple of num_heads");
  write("\"hidden_size\": 32, \"num_heads\": 2, \"vocab_size\": 39");
  CHECK(load_error(folder.path()) == config + ": vocab_size is 39; expected 38");
  write("\"widht\": 3");
  CHECK(load_error(folder.path()) == config + ": widht is no key of DualBind");
  write("\"cutoff\": 0");
  CHECK(load_error(folder.path()).find("cutoff is 0; expected a number above 0") !=
        std::string::npos);
  write("\"cutoff\": 9, \"threshold\": 10");
  CHECK(load_error(folder.path()) ==
        config + ": cutoff and threshold are both there; they are one");
}
