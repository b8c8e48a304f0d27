#pragma once

#include <string>

#include "lib/qc/options/options.hpp"
#include "lib/qc/report/html_page.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// The charts and tables of one set of reads under fastp's headings and ids. stage: "Before
// filtering" or "After filtering"; read: "read1", "read2" or "merged".
void put_read_stats(HtmlPage& page, const std::string& stage, const std::string& read,
                    const ReadStats& stats, const SequenceCounts& overrepresented,
                    const Options& options);

}  // namespace biogpu::qc
