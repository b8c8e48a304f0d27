#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/qc/stats/filter_counts.hpp"
#include "lib/qc/stats/flow.hpp"
#include "lib/qc/stats/overrepresented.hpp"
#include "lib/qc/stats/read_stats.hpp"

namespace biogpu::qc {

// All that the reports tell. Mates are indexed 0 and 1; merged reads count as mate 0 after.
struct Summary {
  std::array<ReadStats, 2> before;
  std::array<ReadStats, 2> after;
  std::array<SequenceCounts, 2> overrepresented_before;
  std::array<SequenceCounts, 2> overrepresented_after;
  FilterCounts counts;  // without its adapters
  Flow flow;
  std::array<CommonTexts, 2> adapters;  // those that are at least 1 % of what was cut off as one
  std::uint64_t n_evaluated = 0;        // reads or pairs looked at for duplicates
  std::uint64_t n_duplicates = 0;

  double duplication_rate() const {
    return n_evaluated == 0 ? 0.0
                            : static_cast<double>(n_duplicates) / static_cast<double>(n_evaluated);
  }
  // The first most frequent insert size.
  int insert_size_peak() const {
    const auto first = counts.insert_sizes.begin();
    return static_cast<int>(std::max_element(first, first + kMaxInsertSize) - first);
  }
};

}  // namespace biogpu::qc
