#include "lib/tasks/dna/scorers/centre_mask.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/tasks/dna/scorers/larger_or_nan.hpp"

namespace biogpu::tasks {
namespace {

const std::array<std::string, 8> kAggregations{"DIFF_MEAN",     "DIFF_SUM",  "DIFF_SUM_LOG2",
                                               "DIFF_LOG2_SUM", "L2_DIFF",   "L2_DIFF_LOG1P",
                                               "ACTIVE_MEAN",   "ACTIVE_SUM"};

double log2_of_1_and(double x) { return std::log2(1 + x); }
double squared(double x) { return x * x; }

// What is added up over bins.
double term_of(Aggregation aggregation, double reference, double alternate) {
  switch (aggregation) {
    case Aggregation::diff_sum_log2:
      return log2_of_1_and(alternate) - log2_of_1_and(reference);
    case Aggregation::l2_diff:
      return squared(alternate - reference);
    default:
      return squared(std::log1p(alternate) - std::log1p(reference));
  }
}

// Of sums over n bins.
double of_sums(Aggregation aggregation, double reference, double alternate, double n) {
  switch (aggregation) {
    case Aggregation::diff_mean:
      return alternate / n - reference / n;
    case Aggregation::diff_sum:
      return alternate - reference;
    case Aggregation::diff_log2_sum:
      return log2_of_1_and(alternate) - log2_of_1_and(reference);
    case Aggregation::active_mean:
      return larger_or_nan(alternate / n, reference / n);
    default:
      return larger_or_nan(alternate, reference);
  }
}

}  // namespace

const std::string& aggregation_name(Aggregation aggregation) {
  return kAggregations[static_cast<std::size_t>(aggregation)];
}

Aggregation parse_aggregation(const std::string& name, const std::string& option) {
  const auto found = std::find(kAggregations.begin(), kAggregations.end(), name);
  if (found == kAggregations.end())
    throw Error(ErrorCode::usage,
                fmt::format("{}: the aggregation is {}; expected one of {}", option, quoted(name),
                            fmt::join(kAggregations, ", ")));
  return static_cast<Aggregation>(found - kAggregations.begin());
}

BinRange centre_mask(std::int64_t base, std::int64_t width, const models::BinGrid& grid) {
  const std::int64_t n = grid.n_bins, place = base - grid.first_base;
  if (place < 0 || place >= grid.n_bases()) return {};
  if (width == 0) return {0, n};
  const std::int64_t n_wanted = (width + grid.bin_size - 1) / grid.bin_size;
  const std::int64_t begin = place / grid.bin_size - n_wanted / 2;
  return {std::max<std::int64_t>(begin, 0), std::min(begin + n_wanted, n)};
}

bool is_of_sums(Aggregation aggregation) {
  return aggregation != Aggregation::diff_sum_log2 && aggregation != Aggregation::l2_diff &&
         aggregation != Aggregation::l2_diff_log1p;
}

std::vector<float> aggregate_sums(Aggregation aggregation, const std::vector<double>& reference,
                                  const std::vector<double>& alternate, std::int64_t n) {
  std::vector<float> scores;
  for (std::size_t t = 0; t < reference.size(); ++t)
    scores.push_back(static_cast<float>(
        of_sums(aggregation, reference[t], alternate[t], static_cast<double>(n))));
  return scores;
}

std::vector<float> aggregate(Aggregation aggregation, const TrackRows& reference,
                             const TrackRows& alternate, const BinRange& bins) {
  if (is_of_sums(aggregation)) {
    const RowMask mask = make_mask({bins}, reference.size());
    return aggregate_sums(aggregation, sum_rows(AlignedRows(reference), mask),
                          sum_rows(AlignedRows(alternate), mask), count_rows(mask));
  }
  std::vector<float> scores;
  const auto n_tracks = static_cast<std::size_t>(reference.n_tracks);
  std::vector<double> sums(n_tracks);
  for (std::int64_t i = bins.begin; i < bins.end; ++i)
    for (std::size_t t = 0; t < n_tracks; ++t)
      sums[t] += term_of(aggregation, static_cast<double>(reference.row(i)[t]),
                         static_cast<double>(alternate.row(i)[t]));
  const bool is_root = aggregation != Aggregation::diff_sum_log2;
  for (const double sum : sums)
    scores.push_back(static_cast<float>(is_root ? std::sqrt(sum) : sum));
  return scores;
}

}  // namespace biogpu::tasks
