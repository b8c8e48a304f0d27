#pragma once

#include <string>

#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// One self-contained page with the numbers of the run as tables and its curves as charts, under
// fastp's headings and element ids. The same summary gives the same bytes; nothing is loaded from
// the network, and the tables can be read without the script.
std::string html_report(const Summary& summary, const Options& options, const std::string& command);

}  // namespace biogpu::qc
