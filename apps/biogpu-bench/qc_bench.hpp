#pragma once

#include <vector>

#include "apps/biogpu-bench/report.hpp"

namespace biogpu::bench {

struct QcBenchSettings {
  int device = 0;
  bool quick = false;  // tiny sizes: shows that it runs, not how fast
};

// Rates of the steps of `biogpu qc` on one GPU: reads resident on the device, and from host memory
// to host memory; the CPU's steps on one thread beside them. Throws Error{failed} where the GPU's
// results differ from the CPU's, before anything is timed.
std::vector<Figure> measure_qc(const QcBenchSettings& settings);

}  // namespace biogpu::bench
