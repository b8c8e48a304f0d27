#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/models/base/protein_model.hpp"
#include "lib/tasks/batching.hpp"
#include "lib/tasks/variants.hpp"

namespace biogpu::tasks {

using Positions = std::vector<std::int32_t>;  // tokens of a sequence, rising, each once

// Log-probabilities of all words at some positions of a sequence.
struct LogProbabilities {
  std::span<const std::int32_t> positions;
  std::span<const float> rows;  // [positions, V]

  std::span<const float> row(std::size_t i) const;
  std::span<const float> at(std::int32_t position) const;  // one of positions
};

// Takes those of sequence i; they are valid during the call.
using TakeLogProbabilities =
    std::function<void(std::size_t i, const LogProbabilities& probabilities)>;

// Log-probabilities of sequences, at some positions of each. masked: each position is a mask in a
// copy of the sequence; else the sequences are run as they are. Sequences and copies share passes,
// and copies are made as passes need them. take is called in order, for every sequence, as soon as
// what it asks for is there.
void log_probabilities(models::ProteinModel& model, const std::vector<Tokens>& sequences,
                       const std::vector<Positions>& positions, bool masked,
                       std::int64_t budget_tokens, const TakeLogProbabilities& take);

// Masks of a sequence, and what it has beside them and the special words at its ends.
Positions mask_positions(const models::Vocabulary& vocabulary, const Tokens& sequence);
Positions residue_positions(const models::Vocabulary& vocabulary, const Tokens& sequence);

// Sum over residues of log p(residue | the others), each masked in turn; masks of the sequence
// itself are left out. (Wang and Cho 2019, arXiv 1902.04094; Salazar et al. 2020, arXiv 1910.14659)
struct PseudoLikelihood {
  double log_likelihood = 0;
  std::int64_t n_residues = 0;  // that were summed
  double perplexity() const;    // exp(-log_likelihood / n_residues), NaN for none
};
// masked: at residue_positions().
PseudoLikelihood pseudo_likelihood(const Tokens& sequence, const LogProbabilities& masked);

// Positions that variants replace.
Positions variant_positions(const std::vector<Variant>& variants);

// Sum over substitutions of log p(to) - log p(from) at their positions: masked marginals, or wild
// type marginals. (Meier et al. 2021, doi 10.1101/2021.07.09.450648)
std::vector<double> variant_scores(const std::vector<Variant>& variants,
                                   const LogProbabilities& probabilities);

}  // namespace biogpu::tasks
