#pragma once

#include <string>
#include <vector>

#include "apps/biogpu/infer/dna/dna_flags.hpp"

namespace biogpu::app {

// Scores of genes in the windows that `biogpu infer tracks` predicts.
struct IntervalFlags {
  std::vector<std::string> scorers;  // empty: arrays or signals instead
  std::string genes;                 // GTF
  bool merge_strands = false;
};

void add_interval_flags(CLI::App& command, IntervalFlags& flags);

// Writes them as a table.
void write_interval_scores(WindowFlags windows, const IntervalFlags& flags,
                           const std::string& command_line);

}  // namespace biogpu::app
