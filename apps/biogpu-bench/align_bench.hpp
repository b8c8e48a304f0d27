#pragma once

#include <string>
#include <vector>

#include "apps/biogpu-bench/report.hpp"

namespace biogpu::bench {

struct AlignBenchSettings {
  int device = 0;
  int n_threads = 1;   // host threads that stage, compare and search
  bool quick = false;  // tiny sizes: shows that it runs, not how fast
  std::string only;    // run only workloads whose name holds this
  // Proteins to search for and in, besides those that are made; both or neither.
  std::string queries, proteome;
};

// Device-only and host-to-host rates of alignment and search on one GPU. Inputs are made from fixed
// seeds. Before a workload is timed, a sample of it is compared with align_cpu row by row; a
// difference throws Error{failed}.
std::vector<Figure> measure_align(const AlignBenchSettings& settings);

}  // namespace biogpu::bench
