#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/tensornet/model_support.hpp"
#include "tests/support/worse_of.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using models::PotentialResult;
using test::ExpectedFile;
using test::ExpectedSystem;
using test::kTensorNets;
using test::LoadedPotential;

TEST_CASE("tensornet: the GPU differs from double precision by roundings", "[model][device]") {
  if (!test::has_gpu()) return;
  const std::string name = GENERATE("o3", "so3_old_rows", "charges", "charges_box", "matgl", "zbl",
                                    "repulsion", "d2", "d2_long", "coulomb");
  CAPTURE(name);
  LoadedPotential gpu(kTensorNets + name, tensor::make_gpu_context(0, {tensor::Precision::fp32}),
                      test::with_references(name));
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

TEST_CASE("tensornet: 16-bit precisions are refused on a GPU", "[model][device]") {
  if (!test::has_gpu()) return;
  CHECK_THROWS_AS(
      LoadedPotential(kTensorNets + "o3", tensor::make_gpu_context(0, {tensor::Precision::fp16})),
      Error);
}
