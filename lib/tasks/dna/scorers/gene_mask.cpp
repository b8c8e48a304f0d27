#include "lib/tasks/dna/scorers/gene_mask.hpp"

#include <cmath>

#include "lib/tasks/dna/scorers/larger_or_nan.hpp"

namespace biogpu::tasks {
namespace {

constexpr double kMeanOffset = 1e-3;

}  // namespace

std::vector<float> score_splicing(const TrackRows& reference, const AlignedRows& alternate,
                                  const RowMask& mask) {
  std::vector<float> largest(static_cast<std::size_t>(reference.n_tracks));
  for (const BinRange& range : mask)
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const float* const of_reference = reference.row(i);
      const float* const of_alternate = alternate.row(i);
      for (std::size_t t = 0; t < largest.size(); ++t)
        largest[t] = larger_or_nan(largest[t], std::abs(of_alternate[t] - of_reference[t]));
    }
  return largest;
}

std::vector<float> score_gene(GeneScore score, const std::vector<double>& reference,
                              const std::vector<double>& alternate, std::int64_t n) {
  const auto n_rows = static_cast<double>(n);
  std::vector<float> scores;
  for (std::size_t t = 0; t < reference.size(); ++t) {
    const double before = reference[t] / n_rows, now = alternate[t] / n_rows;
    scores.push_back(static_cast<float>(
        score == GeneScore::active ? larger_or_nan(before, now)
                                   : std::log(now + kMeanOffset) - std::log(before + kMeanOffset)));
  }
  return scores;
}

std::vector<float> bin_contacts(const TrackRows& map, std::int64_t n_bins, std::int64_t bin) {
  std::vector<float> contacts;
  for (std::int64_t other = 0; other < n_bins; ++other) {
    const float* const pair = map.row(other * n_bins + bin);
    contacts.insert(contacts.end(), pair, pair + map.n_tracks);
  }
  return contacts;
}

std::vector<float> score_contacts(const TrackRows& reference, const TrackRows& alternate) {
  std::vector<double> sums(static_cast<std::size_t>(reference.n_tracks));
  const std::int64_t n_bins = reference.size();
  for (std::int64_t other = 0; other < n_bins; ++other) {
    const float* const before = reference.row(other);
    const float* const now = alternate.row(other);
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
