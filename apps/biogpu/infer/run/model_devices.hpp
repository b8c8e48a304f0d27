#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/model_run.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/object_pool.hpp"
#include "lib/models/base/model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::app {

// Of the files of weights in a model's folder.
std::uint64_t weight_bytes(const std::string& folder);

// A run's model on each of its devices.
class ModelDevices {
 public:
  // Chooses the devices and loads the model on all of them. run outlives it.
  ModelDevices(ModelRun& run, const AutoDecision& decision, const models::LoadOptions& options);

  int size() const { return static_cast<int>(models_.all().size()); }
  tensor::Precision precision() const { return precision_; }  // what is computed in
  const char* precision_name() const { return is_fp64_ ? "fp64" : name_of(precision_); }
  // Any of the models, to ask what all have alike. Kind: what the registry's task works with.
  template <class Kind>
  Kind& first() const {
    return dynamic_cast<Kind&>(*models_.all().front());
  }
  // Gives a worker one of the models, as soon as one is free.
  template <class Kind, class Use>
  void use(const Use& use) {
    struct Held {
      ObjectPool<std::unique_ptr<models::Model>>& pool;
      std::unique_ptr<models::Model>& model;
      ~Held() { pool.release(model); }
    };
    const Held held{models_, models_.wait_acquire()};
    use(dynamic_cast<Kind&>(*held.model));
  }

  // Throws Error{failed} where a result is NaN or infinite.
  template <class Numbers>
  void require_finite(const Numbers& numbers, const std::string& place) const {
    if (!std::all_of(numbers.begin(), numbers.end(), [](auto x) { return std::isfinite(x); }))
      fail_not_finite(place);
  }
  // For the summary: what the devices have spent.
  ModelRun::Report report(nlohmann::ordered_json result) const;

 private:
  void open_contexts(ModelRun& run, const AutoDecision& decision);
  void open_fp64(ModelRun& run);
  void load(const ModelRun& run, const models::LoadOptions& options);
  [[noreturn]] void fail_not_finite(const std::string& place) const;

  tensor::Precision precision_ = tensor::Precision::fp32;
  bool is_fp64_ = false;  // --precision fp64, where a subcommand has it
  std::vector<std::unique_ptr<tensor::Context>> contexts_;
  ObjectPool<std::unique_ptr<models::Model>> models_;
};

}  // namespace biogpu::app
