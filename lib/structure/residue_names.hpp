#pragma once

#include <string_view>

namespace biogpu::structure {

// The letter of an amino acid's residue name, or 0 for a name of no known parent: the 20 standard
// residues, their protonation and disulfide states as force fields name them, and modified
// residues by the parent that their side chain is made of (docs/formats/infer.md lists all).
char residue_letter(std::string_view name);

// Whether the name is one of the 20 standard residues.
bool is_standard_residue(std::string_view name);

}  // namespace biogpu::structure
