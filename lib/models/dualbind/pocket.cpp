#include "lib/models/dualbind/pocket.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace biogpu::models::dualbind {
namespace {

struct LetterAtoms {
  std::string_view residue;                      // "ALA"
  std::array<std::string_view, kSlots> names{};  // empty: none
};

// In the order of letters: # A R N D C Q E G H I L K M F P S T W Y V.
constexpr std::array<LetterAtoms, kLetters> kLetterAtoms{{
    {"", {}},
    {"ALA", {"N", "CA", "C", "O", "CB"}},
    {"ARG", {"N", "CA", "C", "O", "CB", "CG", "CD", "NE", "CZ", "NH1", "NH2"}},
    {"ASN", {"N", "CA", "C", "O", "CB", "CG", "OD1", "ND2"}},
    {"ASP", {"N", "CA", "C", "O", "CB", "CG", "OD1", "OD2"}},
    {"CYS", {"N", "CA", "C", "O", "CB", "SG"}},
    {"GLN", {"N", "CA", "C", "O", "CB", "CG", "CD", "OE1", "NE2"}},
    {"GLU", {"N", "CA", "C", "O", "CB", "CG", "CD", "OE1", "OE2"}},
    {"GLY", {"N", "CA", "C", "O"}},
    {"HIS", {"N", "CA", "C", "O", "CB", "CG", "ND1", "CD2", "CE1", "NE2"}},
    {"ILE", {"N", "CA", "C", "O", "CB", "CG1", "CG2", "CD1"}},
    {"LEU", {"N", "CA", "C", "O", "CB", "CG", "CD1", "CD2"}},
    {"LYS", {"N", "CA", "C", "O", "CB", "CG", "CD", "CE", "NZ"}},
    {"MET", {"N", "CA", "C", "O", "CB", "CG", "SD", "CE"}},
    {"PHE", {"N", "CA", "C", "O", "CB", "CG", "CD1", "CD2", "CE1", "CE2", "CZ"}},
    {"PRO", {"N", "CA", "C", "O", "CB", "CG", "CD"}},
    {"SER", {"N", "CA", "C", "O", "CB", "OG"}},
    {"THR", {"N", "CA", "C", "O", "CB", "OG1", "CG2"}},
    {"TRP",
     {"N", "CA", "C", "O", "CB", "CG", "CD1", "CD2", "NE1", "CE2", "CE3", "CZ2", "CZ3", "CH2"}},
    {"TYR", {"N", "CA", "C", "O", "CB", "CG", "CD1", "CD2", "CE1", "CE2", "CZ", "OH"}},
    {"VAL", {"N", "CA", "C", "O", "CB", "CG1", "CG2"}},
}};

constexpr std::array<std::string_view, kAtomTypes> kTypeNames{
    "",    "N",   "CA",  "C",   "O",   "CB",  "CG", "CG1", "CG2", "OG",  "OG1", "SG", "CD",
    "CD1", "CD2", "ND1", "ND2", "OD1", "OD2", "SD", "CE",  "CE1", "CE2", "CE3", "NE", "NE1",
    "NE2", "OE1", "OE2", "CH2", "NH1", "NH2", "OH", "CZ",  "CZ2", "CZ3", "NZ",  "OXT"};

constexpr std::size_t kAlphaSlot = 1;

std::size_t letter_of(const std::string& residue) {
  for (std::size_t letter = 1; letter < kLetterAtoms.size(); ++letter)
    if (kLetterAtoms[letter].residue == residue) return letter;
  return 0;
}

bool is_at_origin(const std::array<float, 3>& x) {
  return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) <= kOrigin;
}

}  // namespace

std::int64_t atom_type(std::int64_t letter, std::int64_t slot) {
  const std::string_view name =
      kLetterAtoms[static_cast<std::size_t>(letter)].names[static_cast<std::size_t>(slot)];
  return std::find(kTypeNames.begin(), kTypeNames.end(), name) - kTypeNames.begin();
}

Protein make_protein(const std::vector<structure::Residue>& residues) {
  Protein protein;
  for (const structure::Residue& residue : residues) {
    const std::size_t letter = letter_of(residue.name);
    protein.n_unknown += letter == 0;
    std::array<float, 3>& alpha = protein.alpha.emplace_back();
    const auto& names = kLetterAtoms[letter].names;
    for (std::size_t slot = 0; slot < names.size() && !names[slot].empty(); ++slot) {
      const auto atom =
          std::find_if(residue.atoms.begin(), residue.atoms.end(),
                       [&](const structure::ResidueAtom& one) { return one.name == names[slot]; });
      if (atom == residue.atoms.end()) continue;
      if (slot == kAlphaSlot) alpha = atom->position;
      if (is_at_origin(atom->position)) continue;
      protein.positions.insert(protein.positions.end(), atom->position.begin(),
                               atom->position.end());
      protein.kinds.push_back(static_cast<std::int32_t>(letter * kSlots + slot));
    }
    protein.atom_starts.push_back(static_cast<std::int32_t>(protein.kinds.size()));
  }
  return protein;
}

Pocket choose_pocket(const Protein& protein, const std::array<double, 3>& centre, std::size_t n) {
  struct Candidate {
    double distance;
    std::size_t residue;
    bool operator<(const Candidate& other) const {
      return distance != other.distance ? distance < other.distance : residue < other.residue;
    }
  };
  std::vector<Candidate> candidates;
  for (std::size_t r = 0; r < protein.n_residues(); ++r) {
    const auto& alpha = protein.alpha[r];
    candidates.push_back(
        {std::hypot(alpha[0] - centre[0], alpha[1] - centre[1], alpha[2] - centre[2]), r});
  }
  if (n < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n),
                     candidates.end());
    candidates.resize(n);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.residue < b.residue; });
  Pocket pocket;
  for (const auto& [distance, r] : candidates) {
    const std::ptrdiff_t begin = protein.atom_starts[r], end = protein.atom_starts[r + 1];
    pocket.positions.insert(pocket.positions.end(), protein.positions.begin() + 3 * begin,
                            protein.positions.begin() + 3 * end);
    pocket.kinds.insert(pocket.kinds.end(), protein.kinds.begin() + begin,
                        protein.kinds.begin() + end);
    pocket.n_without_alpha += protein.alpha[r] == std::array<float, 3>{};
  }
  return pocket;
}

}  // namespace biogpu::models::dualbind
