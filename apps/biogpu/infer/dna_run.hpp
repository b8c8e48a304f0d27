#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/biogpu/infer/dna_flags.hpp"
#include "apps/biogpu/infer/model_devices.hpp"
#include "apps/biogpu/infer/model_run.hpp"
#include "apps/biogpu/infer/window_input.hpp"
#include "lib/models/dna_model.hpp"
#include "lib/models/registry.hpp"
#include "lib/pipeline/batch_result.hpp"
#include "lib/tasks/dna/tracks.hpp"

namespace biogpu::app {

// From windows of DNA through the models of all devices to one ordered output.
class DnaRun {
 public:
  // Loads the model on every device that is to be used, with the heads that are chosen.
  DnaRun(DnaFlags flags, std::string name, std::string command_line,
         const models::LoadOptions::ChooseHeads& choose);

  const models::DnaModel& model() const { return devices_.first<models::DnaModel>(); }
  const models::DnaModel::Info& info() const { return model().info(); }
  Log& log() { return run_.log(); }
  WindowInput& input() { return input_; }

  // write gets the results in the order of the input.
  void run(tasks::TrackOptions options,
           const std::function<void(const pipeline::BatchResult& result)>& write);
  // As ModelRun has it.
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  std::int64_t windows_per_pass(const models::DnaModel::Request& request) const;
  void compute(std::size_t slot, const tasks::TrackOptions& options, pipeline::BatchResult& result);

  DnaFlags flags_;
  ModelRun run_;
  WindowInput input_;
  ModelDevices devices_;
  std::int64_t n_per_pass_ = 0;
};

}  // namespace biogpu::app
