#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/bio/molecule/graph/molecule_graph.hpp"
#include "lib/models/dualbind/pocket.hpp"

namespace biogpu::models::dualbind {

// A ligand in a protein, as passes take it.
struct Complex {
  molecule::MoleculeGraph ligand;
  std::vector<std::int32_t> ligand_tokens;  // its atoms that count: those at the origin do not
  Pocket pocket;

  std::size_t n_tokens() const { return ligand_tokens.size() + pocket.kinds.size(); }
};

// The pocket has the residues nearest to the mean of the ligand's atoms. Throws Error{bad_input}
// with what is wrong: a ligand of fewer than three atoms, or more tokens than a pass takes.
Complex make_complex(molecule::MoleculeGraph ligand, const Protein& protein,
                     std::size_t pocket_size);

}  // namespace biogpu::models::dualbind
