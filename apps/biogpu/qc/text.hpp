#pragma once

#include <string>

#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::app {

// What fastp prints on standard error at the end of a run, word for word.
std::string qc_text(const qc::Summary& summary, const qc::Options& options);

}  // namespace biogpu::app
