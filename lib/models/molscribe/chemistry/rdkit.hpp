#pragma once

#include <string>

#include "lib/models/molscribe/chemistry/chemistry_module.hpp"
#include "lib/models/molscribe/graph.hpp"

namespace biogpu::models::molscribe {

// The version of RDKit in the module, or empty with *why one line where there is no module.
std::string rdkit_version(std::string* why);

// Canonical SMILES and molfile of a drawing, stereo assigned and abbreviations expanded. aspect: as
// graph_molfile() has it. Throws std::logic_error where rdkit_version() is empty.
Chemistry rdkit_chemistry(const MoleculeGraph& graph, double aspect);

}  // namespace biogpu::models::molscribe
