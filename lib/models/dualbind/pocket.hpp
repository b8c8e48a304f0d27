#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/structure/residues.hpp"

namespace biogpu::models::dualbind {

// Residues are 20 amino acids, and 0 for all else, which has no atoms here.
inline constexpr std::int64_t kLetters = 21;
// Atoms of a residue, each at its own place.
inline constexpr std::int64_t kSlots = 14;
// Kinds of atoms by their names, and 0 for a slot without one.
inline constexpr std::int64_t kAtomTypes = 38;
// The type of every atom of a ligand.
inline constexpr std::int64_t kLigandType = 1;
// What is so near to the origin, in Angstrom, counts as no atom.
inline constexpr float kOrigin = 1e-4f;

// The type of the atom in a slot; 0 where the residue has none there.
std::int64_t atom_type(std::int64_t letter, std::int64_t slot);

// Atoms of a protein as the reference keeps them.
struct Protein {
  std::vector<std::array<float, 3>> alpha;   // [R] of CA; zeros where there is none
  std::vector<std::int32_t> atom_starts{0};  // [R + 1]
  std::vector<float> positions;              // [A, 3]
  std::vector<std::int32_t> kinds;           // [A]: letter * kSlots + slot
  std::size_t n_unknown = 0;                 // residues of letter 0

  std::size_t n_residues() const { return alpha.size(); }
};

// The atoms that the model knows; those within 1e-4 Angstrom of the origin count as missing.
Protein make_protein(const std::vector<structure::Residue>& residues);

// The residues around a place, in the protein's order.
struct Pocket {
  std::vector<float> positions;     // [P, 3]
  std::vector<std::int32_t> kinds;  // [P]
  std::size_t n_without_alpha = 0;  // residues that count as lying at the origin
};

// The n residues whose CA are nearest to the centre. A residue without CA, as all that are no amino
// acid, counts as lying at the origin, as in the reference.
Pocket choose_pocket(const Protein& protein, const std::array<double, 3>& centre, std::size_t n);

}  // namespace biogpu::models::dualbind
