#pragma once

#include <cstdint>
#include <vector>

#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

enum class GeneScore {
  log_fold_change,  // ln(mean(ALT) + 0.001) - ln(mean(REF) + 0.001)
  active,           // max(mean(ALT), mean(REF))
  splicing,         // max |ALT - REF|
};

// For each track, over the rows of a gene's mask, with the alternate aligned with the reference.
// Without a row means are NaN and a maximum is 0.
std::vector<float> score_gene(GeneScore score, const TrackRows& reference,
                              const AlignedRows& alternate, const RowMask& mask);

// The mean of |ALT - REF| over the contacts of one bin, for each track. Maps are [s, s, tracks].
std::vector<float> score_contacts(const TrackRows& reference, const TrackRows& alternate,
                                  std::int64_t n_bins, std::int64_t bin);

// The mean or sum over a mask of one prediction.
std::vector<float> summarize_gene(Reduction reduction, const TrackRows& rows, const RowMask& mask);

}  // namespace biogpu::tasks
