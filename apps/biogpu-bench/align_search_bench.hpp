#pragma once

#include <vector>

#include "apps/biogpu-bench/align_bench.hpp"

namespace biogpu::bench {

// Rates of searching protein sets on one GPU: targets of one length, of the lengths of a proteome,
// and the files that settings name. Scores are compared with align_cpu's before anything is timed,
// and those of the hits that the timed runs find afterwards; a difference throws Error{failed}.
std::vector<Figure> measure_search(const AlignBenchSettings& settings);

}  // namespace biogpu::bench
