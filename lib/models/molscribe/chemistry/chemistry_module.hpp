#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace biogpu::models::molscribe {

// A graph as the chemistry module reads it.
struct DrawnMolecule {
  std::vector<std::string> symbols;  // of atoms
  std::vector<double> x, y;          // y up
  std::vector<std::uint8_t> bonds;   // [n, n], as MoleculeGraph has them
};

struct Chemistry {
  std::string smiles;   // canonical, abbreviations expanded; empty where it failed
  std::string molfile;  // V2000, with aliases; empty where it failed
  std::string why;      // one line, where it failed
};

// Steps that RDKit is behind, in a module that the program opens where it is installed: its
// libraries would add tens of milliseconds to the start of every command. Any thread, one at a
// time.
struct ChemistryModule {
  static constexpr int kInterface = 1;  // raised with every change of these structs
  int interface = kInterface;
  const char* version = "";  // of RDKit
  Chemistry (*convert)(const DrawnMolecule& molecule) = nullptr;
};

}  // namespace biogpu::models::molscribe

extern "C" const biogpu::models::molscribe::ChemistryModule* biogpu_chemistry();
