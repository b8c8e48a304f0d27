#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "apps/biogpu/infer/run/model_input.hpp"
#include "apps/biogpu/run/log.hpp"
#include "apps/biogpu/run/run_summary.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/device.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/pipeline/resume_log.hpp"
#include "lib/report/json_summary.hpp"

namespace biogpu::app {

// From an input through a model on all devices to one ordered output: what every task with a model
// does alike, for records of any kind.
class ModelRun {
 public:
  // flags.inputs: the files that are read; folders were replaced by what is in them. Throws
  // Error{usage} where the model does not have an option that was given.
  ModelRun(InferFlags flags, std::string name, std::string command_line);

  const InferFlags& flags() const { return flags_; }
  std::string task() const { return name_.substr(name_.find(' ') + 1); }  // of "infer embed"
  // The options of models that were given.
  const models::OptionValues& model_options() const { return model_options_; }
  const DeviceChoice& device() const { return device_; }
  Log& log() { return log_; }

  // Chooses devices and opens each GPU among them. Where --device is auto and one cannot be had,
  // the CPU is used with a warning and close() gives up those that were opened.
  void open_devices(const AutoDecision& decision, const std::function<void(int gpu)>& open,
                    const std::function<void()>& close);
  // A stage before run().
  void add_stage(StageTimes stage) { stages_.push_back(std::move(stage)); }

  struct Work {
    int n_workers = 1;
    std::string state;  // what results depend on besides options and files, for --resume
    // The results of the batch in a slot. Any thread.
    std::function<void(std::size_t slot, pipeline::RecordOutputs& result)> compute;
    // Gets the results in the order of the input.
    std::function<void(const pipeline::RecordOutputs& result)> write;
    // About the size of a batch's results, where it may be large: bounds how many are held.
    std::uint64_t result_bytes = 0;
    // Results have their worker's device until they are written: as many are held as workers.
    bool holds_devices = false;
  };
  // Memory for results that were computed and not yet written.
  std::uint64_t max_held_bytes() const;
  void run(ModelInput& input, const Work& work);
  // What went through run(), with what --resume had.
  std::uint64_t n_records() const { return n_records_; }
  std::uint64_t n_residues() const { return n_residues_; }
  std::uint64_t n_unknown() const { return n_unknown_; }

  struct Report {
    nlohmann::ordered_json result;  // of the summary
    double gpu_s = 0;
    std::uint64_t peak_device_bytes = 0;
  };
  // All is written: writes the summary of --json, then names the outputs and the summary, and
  // forgets what --resume kept.
  void finish(std::uint64_t output_bytes, const Report& report,
              const std::function<void()>& name_outputs);

 private:
  std::string fingerprint(const std::string& state) const;
  void take(const pipeline::RecordOutputs& result, const Work& work);
  pipeline::Times write_later(const pipeline::RecordOutputs& result, const Work& work);
  void write_summary(std::uint64_t output_bytes, const Report& report);
  std::string done(bool at_end) const;

  InferFlags flags_;
  const std::string name_;
  const std::string command_line_;
  const models::OptionValues model_options_;
  Log log_;
  SummaryFile summary_;
  DeviceChoice device_;
  std::unique_ptr<pipeline::ResumeLog> resume_log_;
  RecordWords words_;
  std::vector<report::InputFile> files_;
  std::uint64_t n_records_ = 0;
  std::uint64_t n_residues_ = 0;
  std::uint64_t n_unknown_ = 0;
  pipeline::Times times_;
  std::vector<StageTimes> stages_;
};

}  // namespace biogpu::app
