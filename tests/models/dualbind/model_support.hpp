#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/bio/molecule/graph/molecule_texts.hpp"
#include "lib/models/dualbind/dualbind.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

// The folder that scripts/reference/make_dualbind.py has made.
inline const std::string kDualBind = std::string(BIOGPU_TEST_DATA) + "/models/dualbind";

inline models::dualbind::Protein read_protein() {
  return models::dualbind::make_protein(structure::read_residues(kDualBind + "/protein.pdb"));
}

inline std::vector<molecule::MoleculeGraph> read_ligands() {
  molecule::MoleculeTexts texts(kDualBind + "/ligands.sdf");
  std::vector<molecule::MoleculeGraph> ligands;
  for (molecule::MoleculeText text; texts.next(text);)
    ligands.push_back(molecule::make_molecule_graph(text));
  return ligands;
}

inline std::vector<models::dualbind::Complex> make_complexes(
    const std::vector<molecule::MoleculeGraph>& ligands, const models::dualbind::Protein& protein,
    std::size_t pocket_size) {
  std::vector<models::dualbind::Complex> complexes;
  for (const molecule::MoleculeGraph& ligand : ligands)
    complexes.push_back(models::dualbind::make_complex(ligand, protein, pocket_size));
  return complexes;
}

inline std::unique_ptr<models::DualBind> load_dualbind(
    tensor::Context& context, const std::vector<std::string>& ensemble = {}) {
  models::LoadOptions options;
  options.ensemble = ensemble;
  return models::load_model<models::DualBind>(kDualBind, "affinity", context, options);
}

inline std::vector<double> energies_of(const std::vector<models::DualBind::Result>& results) {
  std::vector<double> energies;
  for (const models::DualBind::Result& result : results) energies.push_back(result.energies.at(0));
  return energies;
}

inline std::vector<float> expected_floats(const std::string& name) {
  const tensor::Checkpoint file = tensor::Checkpoint::open(kDualBind + "/expected.safetensors");
  const tensor::StoredTensor& stored = file.tensors().at(name);
  std::vector<float> values(static_cast<std::size_t>(stored.size()));
  REQUIRE(stored.to_floats(values.data()));
  return values;
}

inline std::vector<double> expected_energies() {
  const tensor::Checkpoint file = tensor::Checkpoint::open(kDualBind + "/expected.safetensors");
  const tensor::StoredTensor& stored = file.tensors().at("energy");
  REQUIRE(stored.type == "F64");
  std::vector<double> values(static_cast<std::size_t>(stored.size()));
  std::memcpy(values.data(), stored.data, values.size() * sizeof(double));
  return values;
}

}  // namespace biogpu::test
