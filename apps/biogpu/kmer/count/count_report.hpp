#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/biogpu/kmer/count/count_flags.hpp"
#include "apps/biogpu/kmer/count/input.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/core/cost_model.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/kmer/count/auto_device_counter.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {

// The work of a run, as --device auto predicts it.
cost::Work count_work(const CountFlags& flags);

// What a run of `kmer count` reports: its stages, its result as log lines and as JSON, and the
// rates that --device auto learns from.
class CountReport {
 public:
  CountReport(const CountFlags& flags, std::string command_line, Log& log)
      : flags_(flags), command_line_(std::move(command_line)), log_(log) {}

  void add_stage(const StageTimes& stage) { stages_.push_back(stage); }
  void add_stages(const std::vector<StageTimes>& stages);
  // Those of CountOutput::write(), and of devices where there are some. n_bytes: of the output,
  // which the workers wrote or the last stage.
  void add_output_stages(const pipeline::Times& times, const kmer::Counter& counter,
                         std::uint64_t n_bytes, bool workers_wrote);

  // After the last bucket of the counter.
  // Warns where the input has hardly any k-mers, as files of proteins have.
  void log_result(const kmer::Counter& counter, const KmerInput& input, std::uint64_t n_written);
  void log_stages() const { log_.stages(stages_); }
  // After log_result().
  std::string json(const kmer::AutoDeviceCounter& counter, const KmerInput& input,
                   std::uint64_t n_written, std::uint64_t n_bytes) const;
  void keep_rates(const kmer::AutoDeviceCounter& counter) const;

 private:
  const CountFlags& flags_;
  const std::string command_line_;
  Log& log_;
  std::vector<StageTimes> stages_;
  double wall_s_ = 0;
};

}  // namespace biogpu::app
