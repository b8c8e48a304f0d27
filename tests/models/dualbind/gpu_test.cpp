#include <cmath>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/dualbind/model_support.hpp"
#include "tests/support/worse_of.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using models::DualBind;
using models::dualbind::Complex;
using tensor::Precision;

namespace {

// Small ones: threads take their turns under emulation. n_residues: of pockets.
constexpr std::size_t kFirst = 2, kLast = 4;  // of the ligands
std::vector<Complex> some_complexes(std::size_t n_residues) {
  const auto all = test::read_ligands();
  return test::make_complexes({all.begin() + kFirst, all.begin() + kLast}, test::read_protein(),
                              n_residues);
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double product = 0, squares_a = 0, squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * b[i];
    squares_a += static_cast<double>(a[i]) * a[i];
    squares_b += static_cast<double>(b[i]) * b[i];
  }
  return product / std::sqrt(squares_a * squares_b);
}

}  // namespace

TEST_CASE("dualbind: the GPU differs from double precision by roundings", "[model][device]") {
  if (!test::has_gpu() || !molecule::has_molecule_graphs()) return;
  const auto context = tensor::make_gpu_context(0, {Precision::fp32});
  const auto model = test::load_dualbind(*context);
  const std::vector<Complex> complexes = some_complexes(12);
  std::vector<DualBind::Result> results;
  for (int pass = 0; pass < 2; ++pass) results = model->compute(complexes);  // again: recorded
  const std::vector<double> expected = test::expected_energies();
  for (std::size_t i = 0; i < results.size(); ++i)
    CHECK(std::fabs(results[i].energies[0] - expected[kFirst + i]) < 1e-5);
  // Alone as in the batch, up to the order of sums: which kernel multiplies depends on the size.
  const double alone = model->compute({&complexes[1], 1}).at(0).energies.at(0);
  CHECK(std::fabs(alone - results[1].energies[0]) < 1e-6);
}

TEST_CASE("dualbind: stages of 16-bit modes keep their direction", "[model][device]") {
  if (!test::has_gpu() || !molecule::has_molecule_graphs()) return;
  std::vector<Complex> complexes = some_complexes(2);
  complexes.resize(1);
  const auto exact_context = ops::make_cpu_context(1);
  const DualBind::Stages exact = test::load_dualbind(*exact_context)->compute_stages(complexes);
  for (const Precision precision : {Precision::fp16, Precision::bf16}) {
    const auto context = tensor::make_gpu_context(0, {precision});
    const DualBind::Stages stages = test::load_dualbind(*context)->compute_stages(complexes);
    CHECK(cosine(stages.atoms, exact.atoms) > 0.99999);
    CHECK(cosine(stages.tokens, exact.tokens) > 0.99999);
  }
}

// A recorded pass belongs to the sizes of all its inputs.
TEST_CASE("dualbind: one bond more is another pass", "[model][device]") {
  if (!test::has_gpu() || !molecule::has_molecule_graphs()) return;
  const auto context = tensor::make_gpu_context(0, {Precision::fp32});
  const auto host = ops::make_cpu_context(1);
  const auto model = test::load_dualbind(*context), exact = test::load_dualbind(*host);
  for (const Complex& complex : some_complexes(2)) {
    Complex open = complex;
    molecule::MoleculeGraph& ligand = open.ligand;
    ligand.bond_atoms.resize(ligand.bond_atoms.size() - 2);
    ligand.bond_features.resize(ligand.bond_features.size() -
                                molecule::MoleculeGraph::kBondFeatures);
    for (int pass = 0; pass < 2; ++pass) model->compute({&open, 1});
    const double got = model->compute({&complex, 1}).at(0).energies.at(0);
    CHECK(std::fabs(got - exact->compute({&complex, 1}).at(0).energies.at(0)) < 1e-5);
  }
}
