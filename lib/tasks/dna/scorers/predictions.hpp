#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/scorers/gene_mask.hpp"
#include "lib/tasks/dna/scorers/score_reads.hpp"

namespace biogpu::tasks {

// What a pass gave of one of its windows, as scorers read it.
struct Predictions {
  const models::Outputs& outputs;
  const std::vector<models::SiteWindow>& sites;  // of each window, or none
  std::size_t window = 0, n_windows = 1;
  const ScoreReads* reads = nullptr;  // where not all tracks are there

  // Values of bins: of all, or of those that are read.
  TrackRows rows(const std::string& head) const {
    if (reads != nullptr) return reads->rows(outputs, window, head);
    const models::Outputs::Array& array = outputs.at("tracks." + head);
    const std::size_t n = array.values.size() / n_windows;
    return {{array.values.data() + window * n, n}, array.shape.back()};
  }
  // Over a mask of rows that are aligned.
  std::vector<double> sum(const std::string& head, const RowMask& mask,
                          const AlleleShift& shift) const {
    if (reads != nullptr) return reads->sum(outputs, window, head, mask, shift);
    return sum_rows(AlignedRows(rows(head), shift), mask);
  }
  // [bins, tracks]: of one bin with each.
  std::vector<float> contacts(const models::TrackHead& head, std::int64_t bin) const {
    if (reads == nullptr) return bin_contacts(rows(head.name), head.row_shape.front(), bin);
    const TrackRows read = reads->contacts(outputs, window, head.name, bin);
    return {read.values.begin(), read.values.end()};
  }
};

}  // namespace biogpu::tasks
