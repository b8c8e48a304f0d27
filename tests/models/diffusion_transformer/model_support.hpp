#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/diffusion_transformer/diffusion_transformer.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/models/pairformer/difference.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

inline std::string diffusion_data(const std::string& name) {
  return std::string(BIOGPU_TEST_DATA "/models/diffusion_") + name;
}

// A model, and what scripts/reference/diffusion_transformer.py computes of its inputs.
class LoadedDiffusion {
 public:
  explicit LoadedDiffusion(std::unique_ptr<tensor::Context> context, const std::string& name)
      : context_(std::move(context)),
        model_(models::load_model<models::DiffusionTransformer>(diffusion_data(name), "trunk",
                                                                *context_)),
        expected_(tensor::Checkpoint::open(diffusion_data(name) + "/expected.safetensors")) {}

  models::DiffusionTransformer& model() { return *model_; }

  std::vector<float> numbers(const std::string& name) const {
    const auto found = expected_.tensors().find(name);
    if (found == expected_.tensors().end()) return {};
    std::vector<float> values(static_cast<std::size_t>(found->second.size()));
    REQUIRE(found->second.to_floats(values.data()));
    return values;
  }
  models::TrunkInput input(const std::string& name) const {
    models::TrunkInput input;
    input.n_tokens = expected_.tensors().at(name + "/z").shape[0];
    input.noisy = numbers(name + "/a");
    input.single = numbers(name + "/s");
    input.pair = numbers(name + "/z");
    input.mask = numbers(name + "/mask");
    return input;
  }

 private:
  std::unique_ptr<tensor::Context> context_;
  std::unique_ptr<models::DiffusionTransformer> model_;
  tensor::Checkpoint expected_;
};

}  // namespace biogpu::test
