#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/align/scoring/scoring.hpp"

namespace biogpu::align {

// Scores of residue pairs by letter.
struct SubstitutionMatrix {
  std::string name;
  std::string letters;  // class i stands for letters[i]; no letter twice, case set aside
  // Class of every byte that is no letter of the matrix: that of '*', or letters.size() for a class
  // of its own.
  int rest = 0;
  std::array<std::array<std::int8_t, kMaxClasses>, kMaxClasses> score{};  // [query][target]

  int n_classes() const;
  // No letter but nucleotides and their IUPAC codes.
  bool is_nucleotide() const;
};

// Names of the matrices that built_in_matrix() knows: NCBI's BLOSUM and PAM files, "nuc44" and
// "dnafull" (lib/align/scoring/matrix_data says where each comes from). "blosum80" is BLAST's, in
// 1/2 bit units, to which its published parameters belong; "blosum80_3" is that of NCBI's file,
// Parasail and EMBOSS, in 1/3 bit units.
std::vector<std::string_view> matrix_names();

// The name in that list of a matrix that is called so elsewhere, in either case: "BLOSUM62",
// "EBLOSUM62" and "EDNAFULL" of EMBOSS, "NUC.4.4" of NCBI. Other names only turn to lower case.
std::string known_matrix_name(std::string_view name);

// The name in that list of the matrix that Parasail calls so; empty where it knows none.
std::string parasail_matrix_name(std::string_view name);

// The matrix of that name, which must be in lower case; empty for any other.
std::optional<SubstitutionMatrix> built_in_matrix(std::string_view name);

// case_sensitive: a letter in the other case belongs to the class `rest`.
Scoring matrix_scoring(const SubstitutionMatrix& matrix, int gap_open, int gap_extend,
                       bool case_sensitive = false);

}  // namespace biogpu::align
