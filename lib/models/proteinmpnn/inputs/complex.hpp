#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/models/proteinmpnn/ops/decode.hpp"
#include "lib/structure/structure.hpp"

namespace biogpu::models::proteinmpnn {

inline constexpr std::string_view kLetters = "ACDEFGHIKLMNPQRSTVWYX";
// The same, to find a row of a table over letters.
inline constexpr auto kLetterRow = static_cast<std::size_t>(kLetterCount);

// Index of a residue's letter in kLetters, or -1.
int letter_index(char letter);

// A chain's name for messages, "'A'", and several, "A B". That of a chain without a name, "' '", is
// also what options take for it.
std::string shown_chain(const std::string& name);
std::string shown_chains(const std::vector<std::string>& names);

// The chains of a structure as the model takes them: those to design by name, then the others by
// name, one after the other. Residues count from 0 over all chains.
struct Complex {
  std::string name;
  std::vector<std::string> chains;     // in this order
  std::size_t n_designed = 0;          // chains to design come first
  std::vector<std::int64_t> begin;     // [chains + 1] first residue of each chain
  std::int64_t n = 0;                  // residues
  int atoms = 4;                       // 4: N, CA, C, O; 1: CA
  std::vector<float> coordinates;      // [n][atoms][3], 0 where missing
  std::vector<std::uint8_t> present;   // [n] 1 where all atoms are there
  std::vector<std::uint8_t> designed;  // [n] 1 in a chain to design
  std::vector<std::int32_t> index;     // [n] residue number of the model: 100 more at each chain
  std::vector<std::int32_t> chain;     // [n] chain from 0
  std::vector<std::uint8_t> letters;   // [n] the structure's own
};

// designed: names of chains; empty designs all. others: those to keep; empty keeps all the rest
// where `designed` names any, and chains in neither list are left out as the original does.
struct ChainChoice {
  bool given = false;
  std::vector<std::string> designed;
  std::vector<std::string> fixed;
};

// Throws Error{bad_input} naming file and chain where a chain is not in the structure.
Complex make_complex(const structure::Structure& structure, const ChainChoice& choice, bool ca_only,
                     const std::string& path);

// The designed chains' residues, chains joined by '/'.
std::string designed_text(const Complex& complex, const std::vector<std::uint8_t>& letters);

}  // namespace biogpu::models::proteinmpnn
