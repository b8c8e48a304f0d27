#pragma once

#include <string>
#include <vector>

#include "lib/qc/options/options.hpp"
#include "lib/qc/run/run.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::app {

// What fastp prints on standard error at the end of a run, word for word.
std::string qc_text(const qc::Summary& summary, const qc::Options& options);

// Lines on what came in, went out and was removed, which add up.
std::vector<std::string> flow_text(const qc::RunResult& result);

}  // namespace biogpu::app
