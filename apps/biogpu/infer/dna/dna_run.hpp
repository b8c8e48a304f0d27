#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "apps/biogpu/infer/dna/dna_flags.hpp"
#include "apps/biogpu/infer/run/model_devices.hpp"
#include "apps/biogpu/infer/run/model_input.hpp"
#include "apps/biogpu/infer/run/model_run.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/tasks/dna/compare.hpp"

namespace biogpu::app {

// From an input through a model of DNA on all devices to one ordered output.
class DnaRun {
 public:
  // Loads the model on every device that is to be used, with the heads that are chosen. n_bases:
  // roughly, of all windows together, for --device auto.
  DnaRun(DnaFlags flags, std::string name, std::string command_line, double n_bases);

  const models::DnaModel& model() const { return devices_.first<models::DnaModel>(); }
  const models::DnaModel::Info& info() const { return model().info(); }
  const InferFlags& flags() const { return run_.flags(); }
  std::uint64_t n_records() const { return run_.n_records(); }
  Log& log() { return run_.log(); }

  // Sets the windows of a pass, and warns where --kept-memory leaves nothing to reuse.
  void prepare(tasks::CompareOptions& compare);
  std::int64_t windows_per_pass(const models::DnaModel::Request& request) const;
  // Of each device, to work on what it gives.
  int threads_of_device() const;

  using Compute = std::function<void(models::DnaModel& model, std::size_t slot,
                                     pipeline::RecordOutputs& result)>;
  using Finish = std::function<void(std::size_t slot, pipeline::RecordOutputs& result)>;
  using Write = std::function<void(const pipeline::RecordOutputs& result)>;
  // finish, where it is given, gets the results of a batch when its device computes the next one.
  // write gets the results in the order of the input. result_bytes: as ModelRun::Work has it.
  void run(ModelInput& input, const Compute& compute, const Write& write, const Finish& finish = {},
           std::uint64_t result_bytes = 0);
  // The same of results that have their device until they are written (RecordOutputs::later).
  using Hold = std::function<void(const std::shared_ptr<models::DnaModel>& model, std::size_t slot,
                                  pipeline::RecordOutputs& result)>;
  void run_holding(ModelInput& input, const Hold& compute, const Write& write);
  std::uint64_t max_held_bytes() const { return run_.max_held_bytes(); }
  // Throws Error{failed} where a result is NaN or infinite.
  template <class Numbers>
  void require_finite(const Numbers& numbers, LazyText place) const {
    devices_.require_finite(numbers, place);
  }
  // As ModelRun has it. counts: of the task, for the summary.
  void finish(std::uint64_t output_bytes, const nlohmann::ordered_json& counts,
              const std::function<void()>& name_outputs);

 private:
  DnaFlags flags_;
  ModelRun run_;
  ModelDevices devices_;
};

}  // namespace biogpu::app
