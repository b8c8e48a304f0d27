#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/biogpu/align/compute/compute.hpp"
#include "apps/biogpu/align/format/sink.hpp"
#include "apps/biogpu/align/options/flags.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/core/cost_model.hpp"
#include "lib/core/device_start.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {

// What a run is to be predicted by, before it begins.
cost::Work align_work(const UnitReader& reader, align::Output output, const Selection& selection,
                      int n_threads);

// Counts of what was written; touched by the writer alone.
struct AlignTotals {
  std::uint64_t n_pairs = 0;  // of a query and a target
  std::uint64_t n_cells = 0;
  std::uint64_t n_rows = 0;
};

// One run of `biogpu align`, from files to file.
class AlignRun {
 public:
  // Opens the input.
  AlignRun(const AlignFlags& flags, std::string command_line);
  void run();

 private:
  bool may_use_gpu() const;
  UnitReader::Source source() const;
  std::uint64_t target_bytes() const;
  void choose();
  void choose_style();
  void warn_of_swapped_files();
  UnitLimits limits() const;
  pipeline::Size pipeline_size() const;
  std::string device_text() const;
  void process(AlignSink& sink);
  void log_summary(double wall_s);
  std::string json_text(const AlignSink& sink, double wall_s);
  void keep_rates() const;
  std::vector<StageTimes> stages(std::uint64_t bytes_written) const;

  const AlignFlags& flags_;
  const std::string command_line_;
  Log log_;
  const StageClock start_{"start", 1};
  std::vector<StageTimes> start_stages_;       // until the pipeline runs
  std::unique_ptr<DeviceStart> device_start_;  // goes on while the first blocks are read
  UnitReader reader_;
  Selection selection_;
  Alphabet alphabet_ = Alphabet::dna;
  RowStyle style_;
  DeviceChoice choice_;
  std::optional<AlignBackend> backend_;
  EncodedSet held_targets_;
  std::optional<AlignCompute> compute_;
  pipeline::Times times_;
  AlignTotals totals_;
};

}  // namespace biogpu::app
