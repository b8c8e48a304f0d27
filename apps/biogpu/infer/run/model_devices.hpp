#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "apps/biogpu/infer/run/model_run.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/object_pool.hpp"
#include "lib/io/lazy_text.hpp"
#include "lib/models/base/model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::app {

// Of the files of weights in a model's folder.
std::uint64_t weight_bytes(const std::string& folder);

// Total size of the files that are there; a pipe counts as nothing.
double file_bytes(const std::vector<std::string>& paths);

// Where a model runs with --device auto. n_products: about how often each weight is multiplied.
// Results of two devices may differ in their last digits: what decides is the same on every
// machine, and not what earlier runs have left.
AutoDecision decide_model(const InferFlags& flags, double n_products, int max_gpus = kAllGpus);

// The largest batch of at most `most` and at least `least`, halved until a pass fits the memory
// that the options of the device allow. measure: bytes of a pass.
std::uint64_t largest_batch(const ModelRun& run, std::uint64_t most, std::uint64_t least,
                            const std::function<std::size_t(std::uint64_t n)>& measure);

// Whether all numbers are. Blocks without a branch, so that a compiler takes several at a time.
template <class Numbers>
bool are_finite(const Numbers& numbers) {
  constexpr std::ptrdiff_t kBlock = 256;
  auto at = numbers.begin();
  for (std::ptrdiff_t left = std::distance(at, numbers.end()); left > 0; left -= kBlock) {
    int n_bad = 0;
    for (const auto end = at + std::min(left, kBlock); at != end; ++at)
      n_bad += std::isfinite(*at) ? 0 : 1;
    if (n_bad > 0) return false;
  }
  return true;
}

// A run's model on each of its devices.
class ModelDevices {
 public:
  // Chooses the devices and loads the model on all of them, with the options of models that were
  // given. run outlives it.
  ModelDevices(ModelRun& run, const AutoDecision& decision, models::LoadOptions options = {});

  int size() const { return static_cast<int>(models_.all().size()); }
  tensor::Precision precision() const { return precision_; }  // what is computed in
  const char* precision_name() const { return is_fp64_ ? "fp64" : name_of(precision_); }
  // Any of the models, to ask what all have alike. Kind: what the registry's task works with.
  template <class Kind>
  Kind& first() const {
    return dynamic_cast<Kind&>(*models_.all().front());
  }
  // One of the models, as soon as one is free, for as long as the pointer is there.
  template <class Kind>
  std::shared_ptr<Kind> acquire() {
    std::unique_ptr<models::Model>& model = models_.wait_acquire();
    return {&dynamic_cast<Kind&>(*model), [this, &model](Kind*) { models_.release(model); }};
  }
  // Gives a worker one of them.
  template <class Kind, class Use>
  void use(const Use& use) {
    use(*acquire<Kind>());
  }

  // Throws Error{failed} where a result is NaN or infinite.
  template <class Numbers>
  void require_finite(const Numbers& numbers, LazyText place) const {
    if (!are_finite(numbers)) fail_not_finite(place.str());
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
