#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/flags.hpp"
#include "apps/biogpu/infer/model_run.hpp"
#include "apps/biogpu/infer/sequence_input.hpp"
#include "lib/models/protein_model.hpp"
#include "lib/pipeline/batch_result.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::app {

// From files of sequences through the models of all devices to one ordered output.
class InferRun {
 public:
  // Loads the model on every device that is to be used.
  InferRun(InferFlags flags, std::string name, std::string command_line);

  const models::ModelInfo& info() const { return models_.front()->info(); }
  std::int64_t budget_tokens() const { return budget_tokens_; }
  models::TokenizeOptions tokenize_options() const;
  Log& log() { return run_.log(); }
  // As SequenceInput has them.
  void expect(std::unordered_set<std::string> names) { input_.expect(std::move(names)); }
  const std::unordered_set<std::string>& missing() const { return input_.missing(); }

  using Records = SequenceInput::Records;
  // Throws Error{failed} where a result is NaN or infinite.
  template <class Numbers>
  void require_finite(const Numbers& numbers, const std::string& place) const {
    if (!std::all_of(numbers.begin(), numbers.end(), [](auto x) { return std::isfinite(x); }))
      fail_not_finite(place);
  }

  using Compute = std::function<void(models::ProteinModel& model, Records& records,
                                     pipeline::BatchResult& result)>;
  using Write = std::function<void(const pipeline::BatchResult& result)>;
  // compute runs on any thread, one a device; write gets the results in the order of the input.
  void run(const Compute& compute, const Write& write);
  // As ModelRun has it.
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  void open_contexts();
  void load_weights();
  void choose_budget();
  void compute(std::size_t slot, const Compute& compute, pipeline::BatchResult& result);
  [[noreturn]] void fail_not_finite(const std::string& place) const;

  ModelRun run_;
  SequenceInput input_;
  tensor::Precision precision_ = tensor::Precision::fp32;  // what is computed in
  std::vector<std::unique_ptr<tensor::Context>> contexts_;
  std::vector<std::unique_ptr<models::ProteinModel>> models_;
  std::int64_t budget_tokens_ = 0;

  std::mutex mutex_;  // guards free_models_
  std::vector<models::ProteinModel*> free_models_;
};

}  // namespace biogpu::app
