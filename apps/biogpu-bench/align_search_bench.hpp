#pragma once

#include <vector>

#include "apps/biogpu-bench/align_bench.hpp"

namespace biogpu::bench {

// Rates of searching protein sets on one GPU: targets of one length, of the lengths of a proteome,
// and the files that settings name. Before anything is timed, all scores of the first targets and
// those of the hits of one search are compared with align_cpu's; a difference throws Error{failed}.
std::vector<Figure> measure_search(const AlignBenchSettings& settings);

}  // namespace biogpu::bench
