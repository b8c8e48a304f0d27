#include "lib/infer/score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace biogpu::infer {
namespace {

// Copies of a sequence with a mask at each of some positions, as many at a time as the budget
// takes.
std::vector<float> masked_log_probabilities(ProteinModel& model, const Tokens& sequence,
                                            const std::vector<std::int32_t>& positions,
                                            std::int64_t budget_tokens) {
  const auto length = static_cast<std::int64_t>(sequence.size());
  const auto n_copies = static_cast<std::size_t>(std::max<std::int64_t>(1, budget_tokens / length));
  std::vector<float> all;
  for (std::size_t begin = 0; begin < positions.size(); begin += n_copies) {
    const std::size_t end = std::min(positions.size(), begin + n_copies);
    Request request;
    request.logits = request.log_probabilities = true;
    std::vector<Tokens> copies;
    for (std::size_t i = begin; i < end; ++i) {
      copies.push_back(sequence);
      copies.back()[static_cast<std::size_t>(positions[i])] = model.info().vocabulary.mask;
      request.logit_rows.push_back(positions[i]);
    }
    run_passes(model, copies, request, budget_tokens,
               [&](std::size_t, std::size_t, const Outputs& outputs) {
                 all.insert(all.end(), outputs.logits.begin(), outputs.logits.end());
               });
  }
  return all;
}

}  // namespace

std::vector<float> log_probabilities(ProteinModel& model, const Tokens& sequence,
                                     const std::vector<std::int32_t>& positions, bool masked,
                                     std::int64_t budget_tokens) {
  if (positions.empty()) return {};
  if (masked) return masked_log_probabilities(model, sequence, positions, budget_tokens);
  Request request;
  request.logits = request.log_probabilities = true;
  const auto width = model.info().vocabulary.size();
  std::vector<float> rows;
  run_passes(model, {sequence}, request, budget_tokens,
             [&](std::size_t, std::size_t, const Outputs& outputs) {
               for (const std::int32_t position : positions) {
                 const auto begin = outputs.logits.begin() + (position - 1) * width;
                 rows.insert(rows.end(), begin, begin + width);
               }
             });
  return rows;
}

double PseudoLikelihood::perplexity() const {
  if (n_residues == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::exp(-log_likelihood / static_cast<double>(n_residues));
}

PseudoLikelihood pseudo_likelihood(ProteinModel& model, const Tokens& sequence,
                                   std::int64_t budget_tokens) {
  std::vector<std::int32_t> positions;
  for (std::size_t t = 1; t + 1 < sequence.size(); ++t)
    if (sequence[t] != model.info().vocabulary.mask)
      positions.push_back(static_cast<std::int32_t>(t));
  const std::vector<float> rows =
      log_probabilities(model, sequence, positions, true, budget_tokens);
  const auto width = static_cast<std::size_t>(model.info().vocabulary.size());
  PseudoLikelihood sum;
  sum.n_residues = static_cast<std::int64_t>(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i)
    sum.log_likelihood += static_cast<double>(
        rows[i * width +
             static_cast<std::size_t>(sequence[static_cast<std::size_t>(positions[i])])]);
  return sum;
}

std::vector<double> variant_scores(ProteinModel& model, const Tokens& sequence,
                                   const std::vector<Variant>& variants, bool masked,
                                   std::int64_t budget_tokens) {
  std::vector<std::int32_t> positions;
  for (const Variant& variant : variants)
    for (const Substitution& s : variant.substitutions) positions.push_back(s.position);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  const std::vector<float> rows =
      log_probabilities(model, sequence, positions, masked, budget_tokens);
  const auto width = static_cast<std::size_t>(model.info().vocabulary.size());
  std::vector<double> scores;
  for (const Variant& variant : variants) {
    double score = 0;
    for (const Substitution& s : variant.substitutions) {
      const auto row = static_cast<std::size_t>(
          std::lower_bound(positions.begin(), positions.end(), s.position) - positions.begin());
      const float* const of_row = rows.data() + row * width;
      score += static_cast<double>(of_row[s.to]) - static_cast<double>(of_row[s.from]);
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace biogpu::infer
