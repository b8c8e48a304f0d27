#pragma once

#include <array>
#include <string>
#include <vector>

#include "lib/qc/batch/batch.hpp"
#include "lib/qc/options/options.hpp"
#include "lib/qc/stats/filter_counts.hpp"
#include "lib/qc/stats/flow.hpp"
#include "lib/qc/stats/read_stats.hpp"
#include "lib/qc/steps/trim_pipeline.hpp"

namespace biogpu::qc {

// The sums of one worker over its batches.
struct WorkerSums {
  FilterCounts counts;
  Flow flow;
  // Most reads pass unchanged: they count before and after filtering, and are added once.
  std::array<StatsAdder, 2> unchanged;  // by mate
  std::array<StatsAdder, 2> before;     // only before
  std::array<StatsAdder, 2> after;      // only after
  TrimScratch scratch;
  io::CharBuffer merged_sequence;
  io::CharBuffer merged_quality;
  std::string name1;
  std::string name2;
};

// Runs all steps on the records of a batch and writes what they leave to its output texts.
// is_duplicate must be set where options.dedup is. Where batch.on_device is set a device has run
// the steps and added up the statistics, and only the rest is done.
void process_single(Batch& batch, const Options& options, WorkerSums& sums);
void process_pairs(Batch& batch, const Options& options, WorkerSums& sums);

}  // namespace biogpu::qc
