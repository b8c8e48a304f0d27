#include "lib/align/e_value.hpp"

#include <algorithm>
#include <cmath>

#include "lib/align/e_value_table.hpp"
#include "lib/align/scoring/scoring.hpp"

namespace biogpu::align {
namespace {

template <class Row>
bool costs_are(const Row& row, int gap_open, int gap_extend) {
  return row.gap_extend == gap_extend &&
         parasail_gap_open(row.gap_open, row.gap_extend) == gap_open;
}

// NCBI gives parameters for even scores alone where the match is 2 and the mismatch is odd, and for
// 3 and -4.
bool holds_for_even_scores(int match, int mismatch) {
  return (match == 2 && mismatch % 2 != 0) || (match == 3 && mismatch == -4);
}

std::int32_t rounded(const KarlinAltschul& parameters, std::int32_t score) {
  return parameters.even_scores ? score & ~1 : score;
}

// (m - l) * (n - N * l), or 0 where nothing is left of one of them.
double effective_space(std::uint64_t query_length, const Database& database, std::uint64_t l) {
  const double m = static_cast<double>(query_length) - static_cast<double>(l);
  const double n = static_cast<double>(database.n_residues) -
                   static_cast<double>(database.n_sequences) * static_cast<double>(l);
  return m > 0 && n > 0 ? m * n : 0;
}

}  // namespace

std::optional<KarlinAltschul> published_protein_parameters(std::string_view matrix, int gap_open,
                                                           int gap_extend) {
  for (const ProteinParameters& row : kProteinParameters)
    if (row.matrix == matrix && costs_are(row, gap_open, gap_extend))
      return KarlinAltschul{row.lambda, row.k, row.alpha, row.beta, false};
  return std::nullopt;
}

std::optional<KarlinAltschul> published_nucleotide_parameters(int match, int mismatch, int gap_open,
                                                              int gap_extend) {
  for (const NucleotideParameters& row : kNucleotideParameters)
    if (row.match == match && row.mismatch == mismatch && costs_are(row, gap_open, gap_extend))
      return KarlinAltschul{row.lambda, row.k, row.alpha, row.beta,
                            holds_for_even_scores(match, mismatch)};
  return std::nullopt;
}

double bit_score(const KarlinAltschul& parameters, std::int32_t score) {
  return (parameters.lambda * score - std::log(parameters.k)) / std::log(2.0);
}

std::uint64_t length_adjustment(const KarlinAltschul& parameters, std::uint64_t query_length,
                                const Database& database) {
  if (query_length == 0 || database.n_sequences == 0) return 0;
  // Beyond this space an adjusted length would leave less than the longer of the two.
  const auto longer = static_cast<double>(std::max(query_length, database.n_residues));
  const auto fits = [&](std::uint64_t l) {
    const double space = effective_space(query_length, database, l);
    return parameters.k * space > longer &&
           static_cast<double>(l) <=
               parameters.alpha / parameters.lambda * std::log(parameters.k * space) +
                   parameters.beta;
  };
  std::uint64_t low = 0;  // fits, or nothing does
  std::uint64_t high = std::min(query_length, database.n_residues / database.n_sequences) + 1;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double expected_hits(const KarlinAltschul& parameters, std::int32_t score,
                     std::uint64_t query_length, const Database& database) {
  const std::uint64_t l = length_adjustment(parameters, query_length, database);
  return parameters.k * effective_space(query_length, database, l) *
         std::exp(-parameters.lambda * rounded(parameters, score));
}

std::int32_t min_score_for(const KarlinAltschul& parameters, double at_most,
                           std::uint64_t query_length, const Database& database) {
  constexpr std::int32_t kMin = 1;  // below it nothing is aligned
  const double at_zero = expected_hits(parameters, 0, query_length, database);
  if (at_zero <= at_most) return kMin;
  auto score = static_cast<std::int32_t>(std::log(at_zero / at_most) / parameters.lambda);
  score = std::max(kMin, score - 2);
  while (expected_hits(parameters, score, query_length, database) > at_most) ++score;
  return score;
}

}  // namespace biogpu::align
