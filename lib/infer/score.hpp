#pragma once

#include <cstdint>
#include <vector>

#include "lib/infer/passes.hpp"
#include "lib/infer/protein_model.hpp"
#include "lib/infer/variants.hpp"

namespace biogpu::infer {

// Log-probabilities [positions, V] of a sequence's words. masked: each position is a mask in a copy
// of the sequence made for it; else one pass over the sequence as it is. positions: of tokens,
// rising.
std::vector<float> log_probabilities(ProteinModel& model, const Tokens& sequence,
                                     const std::vector<std::int32_t>& positions, bool masked,
                                     std::int64_t budget_tokens);

// Sum over residues of log p(residue | the others), each masked in turn; masks of the sequence
// itself are left out. (Wang and Cho 2019, arXiv 1902.04094; Salazar et al. 2020, arXiv 1910.14659)
struct PseudoLikelihood {
  double log_likelihood = 0;
  std::int64_t n_residues = 0;  // that were summed
  double perplexity() const;    // exp(-log_likelihood / n_residues), NaN for none
};
PseudoLikelihood pseudo_likelihood(ProteinModel& model, const Tokens& sequence,
                                   std::int64_t budget_tokens);

// Sum over substitutions of log p(to) - log p(from) at their positions: masked marginals, or wild
// type marginals. (Meier et al. 2021, doi 10.1101/2021.07.09.450648)
std::vector<double> variant_scores(ProteinModel& model, const Tokens& sequence,
                                   const std::vector<Variant>& variants, bool masked,
                                   std::int64_t budget_tokens);

}  // namespace biogpu::infer
