#pragma once

#include <string>

#include "lib/models/molscribe/graph.hpp"

namespace biogpu::models::molscribe {

// Chemistry of a graph as it is drawn, without valences or perception of rings.

// A SMILES with the atoms in their order, one fragment after the other: not canonical, without
// stereo bonds and chirality. What is no atom of SMILES is '*', residues R1 to R12 [1*] to [12*].
std::string graph_smiles(const MoleculeGraph& graph);

// A molfile (V2000) with aliases for what is no element and wedges as they are drawn. aspect: width
// of the whole picture by its height; a picture is 10 units high. name: the first line. Empty for
// more atoms or bonds than the format holds (999).
std::string graph_molfile(const MoleculeGraph& graph, double aspect, const std::string& name);

}  // namespace biogpu::models::molscribe
