#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/models/molscribe/vocabulary.hpp"

namespace biogpu::models::molscribe {

enum Bond : std::uint8_t {
  kNoBond,
  kSingle,
  kDouble,
  kTriple,
  kAromatic,
  kSolidWedge,   // from the first atom
  kDashedWedge,  // from the first atom
};
inline constexpr std::size_t kBondKinds = 7;

struct GraphAtom {
  std::string symbol;      // "C", "[NH3+]", "[Ph]", as it was read
  double x = 0, y = 0;     // from 0 to 1 of the cut picture, y down
  double confidence = 1;   // geometric mean of the probabilities of its characters
  std::int64_t state = 0;  // place of its hidden state: that of the step behind its bin of y
};

// A drawing as a graph.
struct MoleculeGraph {
  std::vector<GraphAtom> atoms;
  std::vector<std::uint8_t> bonds;       // [n, n]: a Bond between two atoms, seen from the first
  std::vector<double> bond_confidences;  // [n, n]
  std::string tokens;     // all characters that were read: a SMILES without its bonds
  double confidence = 0;  // of the tokens and all pairs of atoms
  std::int64_t n_tokens = 0;
  bool is_cut = false;     // it has as many tokens as there is room for, and no end
  float least_margin = 0;  // of a token's logit above the second one's

  std::uint8_t bond(std::size_t i, std::size_t j) const { return bonds[i * atoms.size() + j]; }
  double bond_confidence(std::size_t i, std::size_t j) const {
    return bond_confidences[i * atoms.size() + j];
  }
  std::size_t n_bonds() const;  // pairs that have one
};

// Atoms out of tokens, without bonds; its confidence is the geometric mean of the tokens'. An atom
// has a bin of x and a bin of y behind its symbol, and another token behind these.
MoleculeGraph read_tokens(const Vocabulary& vocabulary, std::span<const std::int32_t> tokens,
                          std::span<const float> log_probabilities);

// Sets bonds and confidences. probabilities: [n, n, kBondKinds]; of two atoms the mean of both
// directions is taken, in which wedges are exchanged.
void set_bonds(std::span<const float> probabilities, MoleculeGraph& graph);

}  // namespace biogpu::models::molscribe
