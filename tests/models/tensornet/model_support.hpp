#pragma once

// TensorNets with random weights and what torchmd-net and matgl compute with them.

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/models/tensornet/tensornet.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::test {

inline const std::string kTensorNets = BIOGPU_TEST_DATA "/models/tensornet/";

// A model with its context.
struct LoadedPotential {
  LoadedPotential(const std::string& folder, std::unique_ptr<tensor::Context> on,
                  const models::LoadOptions& options = {})
      : context(std::move(on)),
        model(models::load_model<models::PotentialModel>(folder, "energy", *context, options)) {}
  models::PotentialResult compute(const models::AtomSystem& system) {
    model->check(system);
    return model->compute({&system, 1}, {true, true, true})[0];
  }
  double energy(const models::AtomSystem& system) {
    return model->compute({&system, 1}, {false, false, false})[0].energy;
  }
  std::unique_ptr<tensor::Context> context;
  std::unique_ptr<models::PotentialModel> model;
};

// The energies of free atoms are left out where the model has them: other models refuse that.
inline models::LoadOptions without_references(const std::string& name) {
  models::LoadOptions options;
  if (name == "so3_old_rows" || name == "zbl" || name == "mish_mean")
    options.values.set(models::kAtomReferences, false);
  return options;
}

struct ExpectedSystem {
  models::AtomSystem system;
  double energy = 0, energy_without_references = 0;
  std::vector<double> forces;
  std::vector<double> stress;  // GPa; or empty
};

// expected.safetensors, whose numbers are all of double precision.
class ExpectedFile {
 public:
  explicit ExpectedFile(const std::string& folder)
      : checkpoint_(tensor::Checkpoint::open(folder + "/expected.safetensors")) {}
  bool has(const std::string& name) const { return checkpoint_.tensors().count(name) > 0; }
  std::vector<double> numbers(const std::string& name) const {
    const tensor::StoredTensor& stored = checkpoint_.tensors().at(name);
    std::vector<double> numbers(stored.bytes / sizeof(double));
    std::memcpy(numbers.data(), stored.data, stored.bytes);
    return numbers;
  }
  std::vector<ExpectedSystem> systems() const {
    std::vector<ExpectedSystem> all;
    for (int i = 0; has(std::to_string(i) + "/energy"); ++i) {
      const std::string name = std::to_string(i) + "/";
      ExpectedSystem one;
      for (const double z : numbers(name + "numbers"))
        one.system.atomic_numbers.push_back(static_cast<std::int32_t>(z));
      one.system.positions = numbers(name + "positions");
      if (has(name + "box")) {
        one.system.box.emplace();
        const std::vector<double> box = numbers(name + "box");
        std::copy(box.begin(), box.end(), one.system.box->begin());
      }
      if (has(name + "charge")) one.system.total_charge = numbers(name + "charge")[0];
      if (has(name + "partial_charges"))
        one.system.partial_charges = numbers(name + "partial_charges");
      one.energy = numbers(name + "energy")[0];
      one.energy_without_references = one.energy;
      if (has(name + "energy_without_references"))
        one.energy_without_references = numbers(name + "energy_without_references")[0];
      one.forces = numbers(name + "forces");
      if (has(name + "stress")) one.stress = numbers(name + "stress");
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  tensor::Checkpoint checkpoint_;
};

}  // namespace biogpu::test
