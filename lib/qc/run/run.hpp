#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/stage_times.hpp"
#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/partial_report.hpp"
#include "lib/qc/stats/summary.hpp"

namespace biogpu::qc {

// How a run is carried out; nothing here changes a byte of what it writes.
struct RunSettings {
  int n_threads = 1;
  // The GPUs to use, see GpuPool; asked for only where gpu_covers(options).
  std::function<std::vector<int>()> choose_gpus;
  bool wait_for_gpus = true;
  std::size_t batch_records = 4000;  // rounded up to whole packs
  std::function<void(double fraction, std::uint64_t n_records)> progress;
};

struct RunResult {
  Summary summary;
  PartialReport partial;               // with --part
  std::uint64_t n_of_input = 0;        // reads or pairs of all shards
  std::uint64_t n_records = 0;         // reads or pairs
  std::uint64_t bytes_read = 0;        // of the input's files, as they lie there
  std::uint64_t file_bytes = 0;        // that they have; 0: not known of all
  std::uint64_t bytes_written = 0;     // of reads, compressed where the output is
  std::vector<std::string> remarks;    // warnings of a lenient run
  std::string other_names;             // see BatchReader
  std::uint64_t n_device_records = 0;  // of n_records, those whose steps ran on a device
  double device_s = 0;                 // of copies and kernels, summed over streams
  std::uint64_t device_bytes = 0;
  std::vector<StageTimes> stages;
  std::shared_ptr<void> held;  // memory and devices of the run, to be freed when it suits
};

// Reads, trims, filters, counts and writes. options must have passed check_options and prepare.
// The outputs get their names only when all of them are whole and `before_commit`, which may take
// what it is given, returned.
RunResult run(const Options& options, const RunSettings& settings,
              const std::function<void(RunResult&)>& before_commit);

}  // namespace biogpu::qc
