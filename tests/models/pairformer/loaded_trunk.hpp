#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/registry.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

// A model of the task trunk, and the arrays of its folder's expected.safetensors.
template <class Model>
class LoadedTrunk {
 public:
  LoadedTrunk(std::unique_ptr<tensor::Context> context, const std::string& folder)
      : context_(std::move(context)),
        model_(models::load_model<Model>(folder, "trunk", *context_)),
        expected_(tensor::Checkpoint::open(folder + "/expected.safetensors")) {}

  Model& model() { return *model_; }
  std::int64_t extent(const std::string& name) const {
    return expected_.tensors().at(name).shape[0];
  }
  // Empty where there is no such array.
  std::vector<float> numbers(const std::string& name) const {
    const auto found = expected_.tensors().find(name);
    if (found == expected_.tensors().end()) return {};
    std::vector<float> values(static_cast<std::size_t>(found->second.size()));
    REQUIRE(found->second.to_floats(values.data()));
    return values;
  }

 private:
  std::unique_ptr<tensor::Context> context_;
  std::unique_ptr<Model> model_;
  tensor::Checkpoint expected_;
};

}  // namespace biogpu::test
