#pragma once

#include <cstdint>
#include <vector>

#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

enum class GeneScore {
  log_fold_change,  // ln(mean(ALT) + 0.001) - ln(mean(REF) + 0.001)
  active,           // max(mean(ALT), mean(REF))
};

// For each track, of sums over the n rows of a gene's mask; NaN without a row.
std::vector<float> score_gene(GeneScore score, const std::vector<double>& reference,
                              const std::vector<double>& alternate, std::int64_t n);

// For each track the largest |ALT - REF| in the rows of a mask, or 0, with the alternate aligned
// with the reference.
std::vector<float> score_splicing(const TrackRows& reference, const AlignedRows& alternate,
                                  const RowMask& mask);

// The contacts of one bin with each, of a map [n_bins, n_bins, tracks].
std::vector<float> bin_contacts(const TrackRows& map, std::int64_t n_bins, std::int64_t bin);
// The mean of |ALT - REF| over the contacts of one bin, for each track.
std::vector<float> score_contacts(const TrackRows& reference, const TrackRows& alternate);

// The mean or sum over a mask of one prediction.
std::vector<float> summarize_gene(Reduction reduction, const TrackRows& rows, const RowMask& mask);

}  // namespace biogpu::tasks
