#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace biogpu::align {

// Residue classes: at most 32, so that a row of scores fits one 32-byte table look-up.
inline constexpr int kMaxClasses = 32;

// What a pair of residues and a gap are worth. A gap of length L costs
//   gap_open + (L - 1) * gap_extend
// as in Parasail (J. Daily, doi:10.1186/s12859-016-0930-z); both are >= 0 and are subtracted.
struct Scoring {
  std::array<std::uint8_t, 256> class_of{};  // byte of the file -> class
  std::array<std::array<std::int8_t, kMaxClasses>, kMaxClasses> score{};  // [query][target]
  int n_classes = 0;
  int gap_open = 11;
  int gap_extend = 1;

  int max_score() const;  // over the classes in use
  int min_score() const;
};

// Alphabet ACGT and one class for every other byte (N, U, IUPAC), which scores 0 against all,
// itself included, as Parasail's -d does. mismatch is added: give -3 for a penalty of 3.
Scoring dna_scoring(int match, int mismatch, int gap_open, int gap_extend);

// BLOSUM62 in NCBI's order ARNDCQEGHILKMFPSTWYVBZX*; every other byte falls to '*'.
// S. Henikoff and J. G. Henikoff, doi:10.1073/pnas.89.22.10915.
Scoring blosum62_scoring(int gap_open, int gap_extend);

// The cost of L residues under "open + L * extend" (BLAST, minimap2) is that of Parasail's model
// with its gap_open raised by gap_extend. The one place that converts.
inline int parasail_gap_open(int open, int extend) { return open + extend; }

// Scores are whole numbers. Where the text is a fraction in decimals, the end of a message that
// says how to get whole ones: "; multiply all scores and gap costs by 4"; empty for any other text.
std::string how_to_scale(std::string_view text);

}  // namespace biogpu::align
