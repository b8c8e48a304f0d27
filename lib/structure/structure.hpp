#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace biogpu::structure {

inline constexpr int kBackboneAtoms = 4;  // N, CA, C, O

// A polymer chain as models of backbones see it.
struct Chain {
  std::string name;
  // One letter a residue, 'X' for residues that are missing or of no standard kind.
  std::string sequence;
  // Angstrom; [residue][N, CA, C, O][x, y, z], NaN where the file has no such atom.
  std::vector<std::array<float, kBackboneAtoms * 3>> backbone;
  std::vector<std::string> labels;  // number and insertion code in the file: "52A"
};

struct Structure {
  std::string name;           // of the file, without folder and suffixes
  std::vector<Chain> chains;  // by name
  // Names of residues that were read as X, and of HETATM residues with a backbone that were not
  // taken: neither has a known parent.
  std::set<std::string> unknown, left_out;
  std::int64_t size() const;  // residues

  const Chain* find(const std::string& chain) const;
};

// Reads PDB or mmCIF, plain or gzip, by content. Rules are those of ProteinMPNN's parser (Dauparas
// et al. 2022, doi 10.1126/science.add2187): atoms of ATOM records; the first location of an atom
// and the first kind of a residue count, over all models; residues go by number, then insertion
// code; a number between a chain's first and last that the file does not have becomes one residue X
// without atoms. Unlike there, residues of protonation states and modified residues, those of
// HETATM records too, have the letter of their parent (residue_names.hpp).
//
// Errors: Error{failed} where the file cannot be read, Error{bad_input} with file and record where
// it is damaged, is no such file, leaves too many numbers out, or holds no residue with N, CA, C
// and O (ca_only: with CA).
Structure read_structure(const std::string& path, bool ca_only = false);

// Whether a file's name says that it holds a structure: .pdb, .ent, .cif, .mmcif in any case, and
// those with .gz.
bool has_structure_suffix(const std::string& path);

}  // namespace biogpu::structure
