#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

#include "apps/biogpu/infer/proteins/sequence_input.hpp"
#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "apps/biogpu/infer/run/model_devices.hpp"
#include "apps/biogpu/infer/run/model_run.hpp"
#include "lib/models/base/protein_model.hpp"
#include "lib/pipeline/record_outputs.hpp"

namespace biogpu::app {

// From files of sequences through a language model to one ordered output.
class SequenceRun {
 public:
  // Loads the model on every device that is to be used.
  SequenceRun(InferFlags flags, std::string name, std::string command_line);

  const models::ModelInfo& info() const { return devices_.first<models::ProteinModel>().info(); }
  std::int64_t budget_tokens() const { return budget_tokens_; }
  Log& log() { return run_.log(); }
  // As SequenceInput has them.
  void expect(std::unordered_set<std::string> names) { input_.expect(std::move(names)); }
  const std::unordered_set<std::string>& missing() const { return input_.missing(); }
  // As ModelDevices has it.
  template <class Numbers>
  void require_finite(const Numbers& numbers, LazyText place) const {
    devices_.require_finite(numbers, place);
  }

  using Records = SequenceInput::Records;
  using Compute = std::function<void(models::ProteinModel& model, Records& records,
                                     pipeline::RecordOutputs& result)>;
  using Write = std::function<void(const pipeline::RecordOutputs& result)>;
  // compute runs on any thread, one a device; write gets the results in the order of the input.
  void run(const Compute& compute, const Write& write);
  // As ModelRun has it.
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  void choose_budget();

  ModelRun run_;
  SequenceInput input_;
  ModelDevices devices_;
  std::int64_t budget_tokens_ = 0;
};

}  // namespace biogpu::app
