#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/qc/run/filter_counts.hpp"
#include "lib/qc/stats/read_stats.hpp"

namespace biogpu::qc {

// A sequence and how often it was met in the reads sampled, in lexicographic order.
using SequenceCounts = std::vector<std::pair<std::string, std::uint64_t>>;

// All that the reports tell. Mates are indexed 0 and 1; merged reads count as mate 0 after.
struct Summary {
  std::array<ReadStats, 2> before;
  std::array<ReadStats, 2> after;
  std::array<SequenceCounts, 2> overrepresented_before;
  std::array<SequenceCounts, 2> overrepresented_after;
  FilterCounts counts;                  // without its adapters
  std::array<CommonTexts, 2> adapters;  // those that are at least 1 % of what was cut off as one
  std::uint64_t n_evaluated = 0;        // reads or pairs looked at for duplicates
  std::uint64_t n_duplicates = 0;

  double duplication_rate() const {
    return n_evaluated == 0 ? 0.0
                            : static_cast<double>(n_duplicates) / static_cast<double>(n_evaluated);
  }
  // The first most frequent insert size.
  int insert_size_peak() const;
};

// Whether a sequence that was met so often in one of `sampling` reads is reported.
bool is_overrepresented(const std::string& sequence, std::uint64_t count, int sampling);

}  // namespace biogpu::qc
