#include "lib/tasks/dna/scorers/gene_mask.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::tasks {
namespace {

constexpr double kMeanOffset = 1e-3;

std::vector<float> max_difference(const TrackRows& reference, const AlignedRows& alternate,
                                  const RowMask& mask) {
  std::vector<float> largest(static_cast<std::size_t>(reference.n_tracks));
  for (const BinRange& range : mask)
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float* const of_reference = reference.row(i);
      const float* const of_alternate = alternate.row(i);
      for (std::size_t t = 0; t < largest.size(); ++t)
        largest[t] = std::max(largest[t], std::abs(of_alternate[t] - of_reference[t]));
    }
  return largest;
}

}  // namespace

std::vector<float> score_gene(GeneScore score, const TrackRows& reference,
                              const AlignedRows& alternate, const RowMask& mask) {
  if (score == GeneScore::splicing) return max_difference(reference, alternate, mask);
  const std::vector<double> of_reference = sum_rows(AlignedRows(reference), mask);
  const std::vector<double> of_alternate = sum_rows(alternate, mask);
  const auto n = static_cast<double>(count_rows(mask));
  std::vector<float> scores;
  for (std::size_t t = 0; t < of_reference.size(); ++t) {
    const double before = of_reference[t] / n, now = of_alternate[t] / n;
    scores.push_back(static_cast<float>(
        score == GeneScore::active ? std::max(before, now)
                                   : std::log(now + kMeanOffset) - std::log(before + kMeanOffset)));
  }
  return scores;
}

std::vector<float> score_contacts(const TrackRows& reference, const TrackRows& alternate,
                                  std::int64_t n_bins, std::int64_t bin) {
  std::vector<double> sums(static_cast<std::size_t>(reference.n_tracks));
  for (std::int64_t other = 0; other < n_bins; ++other) {
    const float* const before = reference.row(other * n_bins + bin);
    const float* const now = alternate.row(other * n_bins + bin);
    for (std::size_t t = 0; t < sums.size(); ++t)
      sums[t] += std::abs(static_cast<double>(now[t]) - static_cast<double>(before[t]));
  }
  std::vector<float> scores;
  for (const double sum : sums)
    scores.push_back(static_cast<float>(sum / static_cast<double>(n_bins)));
  return scores;
}

std::vector<float> summarize_gene(Reduction reduction, const TrackRows& rows, const RowMask& mask) {
  const double n = reduction == Reduction::mean ? static_cast<double>(count_rows(mask)) : 1.0;
  std::vector<float> values;
  for (const double sum : sum_rows(AlignedRows(rows), mask))
    values.push_back(static_cast<float>(sum / n));
  return values;
}

}  // namespace biogpu::tasks
