#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lib/qc/stats/text_counts.hpp"
#include "lib/qc/steps/trim_result.hpp"

namespace biogpu::qc {

// What happened to the reads of a run, or of a part of it.
struct FilterCounts {
  std::array<std::uint64_t, kVerdicts> verdicts{};  // reads, by Verdict
  std::uint64_t adapter_reads = 0;
  std::uint64_t adapter_bases = 0;
  std::array<TextCounts, 2> adapters;           // what was cut off as one, by mate; see Batch::cuts
  std::array<std::uint64_t, 4> poly_x_reads{};  // A T C G
  std::array<std::uint64_t, 4> poly_x_bases{};
  std::uint64_t corrected_reads = 0;
  std::uint64_t corrected_bases = 0;
  std::uint64_t merged_pairs = 0;
  std::array<std::uint64_t, kMaxInsertSize + 1> insert_sizes{};  // last: not known

  std::uint64_t n_with(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
  void count(Verdict verdict, unsigned n_reads) {
    verdicts[static_cast<std::size_t>(verdict)] += n_reads;
  }
  // What the steps did to a read.
  void count_read(const TrimResult& result);
  void count_insert_size(int insert_size) {
    if (insert_size >= 0) ++insert_sizes[static_cast<std::size_t>(insert_size)];
  }
  // Adds all but the adapters, of which common_texts() makes what is reported.
  void add(const FilterCounts& other);
};

}  // namespace biogpu::qc
