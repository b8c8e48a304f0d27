#pragma once

#include <array>
#include <string>
#include <vector>

namespace biogpu::structure {

struct ResidueAtom {
  std::string name;                 // "CA"
  std::array<float, 3> position{};  // Angstrom
};

// A residue, ligand or ion of any kind.
struct Residue {
  std::string name;                // "ALA"
  std::string label;               // "A:52A", chain, number and insertion code
  std::vector<ResidueAtom> atoms;  // each name once
};

// Reads all residues of a PDB or mmCIF file, plain or gzip, but water (HOH and WAT), by the rules
// of Biopython (doi 10.1093/bioinformatics/btp163) for a file that it has written itself: chain by
// chain as they begin, in each chain residues as they begin. Of several locations of an atom the
// one of highest occupancy counts, of equal ones the first with a letter; one without a letter
// behind others is left out. Of several residues with one number the last one counts, or the first
// where one of its atoms has no letter of a location.
//
// Errors: those of read_structure(), and several models.
std::vector<Residue> read_residues(const std::string& path);

}  // namespace biogpu::structure
