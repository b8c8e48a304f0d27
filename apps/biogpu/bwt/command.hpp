#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/shared_flags.hpp"
#include "apps/biogpu/run/log.hpp"
#include "apps/biogpu/run/run_summary.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {

// The subcommands of `biogpu bwt`. Each declares its options and returns what runs it.
Run add_bwt_index(CLI::App& command);
Run add_bwt_transform(CLI::App& command);
Run add_bwt_inverse(CLI::App& command);
Run add_bwt_count(CLI::App& command);
Run add_bwt_locate(CLI::App& command);
Run add_bwt_smem(CLI::App& command);
Run add_bwt_stats(CLI::App& command);
Run add_bwt_extract(CLI::App& command);

// What every run of `biogpu bwt` reports at its end.
struct BwtReport {
  std::vector<report::InputFile> inputs;
  std::vector<report::OutputFile> outputs;
  DeviceChoice device;
  double gpu_s = 0;
  double read_s = 0;
  double compute_s = 0;
  double write_s = 0;
  std::vector<StageTimes> stages;
  std::uint64_t peak_device_bytes = 0;
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
};

// As decide_device(), of a command that uses one GPU.
AutoDecision decide_for_one(const DeviceRequest& request, const cost::Work& work);

// The prediction and the device that was chosen, with the reason, go to the log.
void log_device(Log& log, const AutoDecision& decision, const DeviceChoice& choice);

// Sorting so many letters, as it is predicted.
cost::Work sort_work(std::uint64_t n_letters, int n_threads);
// What a sort was seen to do, with the seconds that a device took to start, is kept.
void keep_sort_rates(const bwt::SuffixSortReport& sorted, std::uint64_t n_letters, int n_threads,
                     const std::vector<StageTimes>& stages, double start_s);

// How suffixes are to be sorted on the device that was chosen.
bwt::SuffixSortSettings sort_settings(const SharedFlags& flags, const DeviceChoice& device);
// The stages of a run that reads queries, searches and writes: read, search, write.
std::vector<StageTimes> search_stages(const pipeline::Times& times, std::uint64_t bytes_read,
                                      std::uint64_t bytes_written);
// What a sort of so many seconds says of itself goes to the log and the report.
void log_sort(const bwt::SuffixSortReport& sorted, double seconds, Log& log, BwtReport& report);

// How much of the queries' file is read, behind a batch of it.
void update_progress(Progress& progress, const io::SequenceReader& reader, std::uint64_t n_queries);

// Writes the summary; its commit() is left to the caller, behind that of the output.
void write_bwt_summary(SummaryFile& summary, const SharedFlags& flags,
                       const std::string& command_line, const Log& log, const BwtReport& report);

}  // namespace biogpu::app
