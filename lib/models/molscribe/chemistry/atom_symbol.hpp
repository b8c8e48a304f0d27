#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace biogpu::models::molscribe {

// What the symbol of an atom stands for.
struct AtomSymbol {
  std::string element = "*";  // "C", "*"
  std::string alias;          // what it was read as where it is no element: "Ph", "R1"
  std::string smiles = "*";   // of the atom alone, without chirality
  int isotope = 0;            // of R1 to R12: the number
  int charge = 0;
  bool is_aromatic = false;
};

// An atom of SMILES ("C", "[NH3+]", "c", "[nH]"), a symbol of a residue ("[R1]", "[Ar]"), or
// anything else: an abbreviation or a formula ("[Ph]", "[CO2Et]"), which stays an alias.
AtomSymbol read_symbol(std::string_view symbol);

}  // namespace biogpu::models::molscribe
