#pragma once

#include <string>

#include "lib/bio/molecule/graph/molecule_graph.hpp"

namespace biogpu::molecule {

// What the module with RDKit does. It is opened when molecules with bonds are read: the 25
// libraries would add to the start of every command.
struct RdkitLibrary {
  static constexpr int kInterface = 1;  // raised with every change of this struct
  int interface = kInterface;
  // False, with why, for text that is no molecule.
  bool (*make_graph)(const std::string& text, GraphFormat format, MoleculeGraph& graph,
                     std::string& why) = nullptr;
};

}  // namespace biogpu::molecule

extern "C" const biogpu::molecule::RdkitLibrary* biogpu_rdkit_library();
