#pragma once

#include <string>

#include "lib/qc/options/options.hpp"
#include "lib/qc/report/html_page.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// A set of reads at one stage, under fastp's names for both: "Before filtering" or "After
// filtering"; "read1", "read2" or "merged".
struct HtmlReads {
  std::string stage;
  std::string read;
  const ReadStats& stats;
  const SequenceCounts& overrepresented;
};

// The charts and tables of one mate with fastp's ids: what is compared lies side by side, with the
// same axes. Every set begins a column; one column holds its two charts side by side.
void put_read_stats(HtmlPage& page, const std::string& heading, const std::vector<HtmlReads>& sets,
                    const Options& options);

}  // namespace biogpu::qc
