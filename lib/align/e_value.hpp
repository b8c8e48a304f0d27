#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace biogpu::align {

// What turns the score of a local alignment into bits and an expected number of chance hits:
// S. Karlin and S. F. Altschul, doi:10.1073/pnas.87.6.2264; gapped parameters and lengths as in
// S. F. Altschul, R. Bundschuh, R. Olsen and T. Hwa, doi:10.1093/nar/29.2.351.
struct KarlinAltschul {
  double lambda = 0;
  double k = 0;
  double alpha = 0;
  double beta = 0;
  bool even_scores = false;  // E-values hold for even scores: odd ones are rounded down for them
};

// The parameters that NCBI publishes with BLAST for a matrix ("blosum62") or for a match and a
// mismatch score of nucleotides (2, -3), and for these gap costs in Parasail's model: a gap of
// length L costs gap_open + (L - 1) * gap_extend. Empty where NCBI gives none.
std::optional<KarlinAltschul> published_protein_parameters(std::string_view matrix, int gap_open,
                                                           int gap_extend);
std::optional<KarlinAltschul> published_nucleotide_parameters(int match, int mismatch, int gap_open,
                                                              int gap_extend);

// Targets that a query is held against.
struct Database {
  std::uint64_t n_residues = 0;
  std::uint64_t n_sequences = 0;
};

// As BLAST, which rounds no score for its bits.
double bit_score(const KarlinAltschul& parameters, std::int32_t score);

// Residues by which query and every target count as shorter because an alignment does not fit at
// their ends: the greatest whole number l with
//   l <= alpha / lambda * ln(k * (m - l) * (n - N * l)) + beta,
// m and n being the residues of query and database and N its sequences; 0 where none fits.
std::uint64_t length_adjustment(const KarlinAltschul& parameters, std::uint64_t query_length,
                                const Database& database);

// Alignments of at least this score expected by chance with the whole database.
double expected_hits(const KarlinAltschul& parameters, std::int32_t score,
                     std::uint64_t query_length, const Database& database);

// The smallest score from 1 on, below which nothing is aligned, whose expected_hits() do not exceed
// at_most, which is above 0.
std::int32_t min_score_for(const KarlinAltschul& parameters, double at_most,
                           std::uint64_t query_length, const Database& database);

}  // namespace biogpu::align
