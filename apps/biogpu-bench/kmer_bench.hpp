#pragma once

#include <string>
#include <vector>

#include "apps/biogpu-bench/report.hpp"

namespace biogpu::bench {

struct KmerBenchSettings {
  int device = 0;
  int n_devices = 1;   // from `device` on; where more than one, they are measured together too
  int n_threads = 1;   // host threads that make inputs and look up
  bool quick = false;  // tiny sizes: shows that it runs, not how fast
  std::string only;    // run only workloads whose name holds this
};

// Counting with the text on the device, and look-ups in a table on it. Inputs are made from fixed
// seeds. Before a workload is timed its results are compared with the CPU's, for counting on a
// smaller text; a difference throws Error{failed}.
std::vector<Figure> measure_kmer(const KmerBenchSettings& settings);

// The reads that are counted, as FASTQ.
void write_kmer_reads(const KmerBenchSettings& settings, const std::string& path);

}  // namespace biogpu::bench
