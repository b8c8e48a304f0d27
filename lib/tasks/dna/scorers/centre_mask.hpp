#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/tasks/dna/scorers/track_rows.hpp"

namespace biogpu::tasks {

// One number of what is predicted of both alleles in some bins; see aggregate().
enum class Aggregation {
  diff_mean,
  diff_sum,
  diff_sum_log2,
  diff_log2_sum,
  l2_diff,
  l2_diff_log1p,
  active_mean,
  active_sum,
};

// "DIFF_LOG2_SUM"
const std::string& aggregation_name(Aggregation aggregation);
// Throws Error{usage}, which begins with `option`, for an unknown name.
Aggregation parse_aggregation(const std::string& name, const std::string& option);

// The bins around a base of a window: ceil(width / bin size) bins, of which bin n / 2 holds the
// base, cut to those that there are; all bins where the width is 0, and none where the base is not
// in the window.
BinRange centre_mask(std::int64_t base, std::int64_t width, const models::BinGrid& grid);

// Whether it is a function of each allele's sums: all but diff_sum_log2, l2_diff and l2_diff_log1p.
bool is_of_sums(Aggregation aggregation);
// The score by such an aggregation, from sums over n bins.
std::vector<float> aggregate_sums(Aggregation aggregation, const std::vector<double>& reference,
                                  const std::vector<double>& alternate, std::int64_t n);

// For each track, over the bins of a range, with log2(1 + x) for log2:
//   diff_mean      mean(ALT) - mean(REF)
//   diff_sum       sum(ALT) - sum(REF)
//   diff_sum_log2  sum(log2(ALT)) - sum(log2(REF))
//   diff_log2_sum  log2(sum(ALT)) - log2(sum(REF))
//   l2_diff        the root of the sum of (ALT - REF)^2
//   l2_diff_log1p  the same of ln(1 + x)
//   active_mean    max(mean(ALT), mean(REF))
//   active_sum     max(sum(ALT), sum(REF))
// Means of no bin are NaN. The alternate's bins are not aligned with the reference's.
std::vector<float> aggregate(Aggregation aggregation, const TrackRows& reference,
                             const TrackRows& alternate, const BinRange& bins);

}  // namespace biogpu::tasks
