#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lib/models/diffusion_transformer/diffusion_transformer.hpp"
#include "tests/models/pairformer/difference.hpp"
#include "tests/models/pairformer/loaded_trunk.hpp"

namespace biogpu::test {

inline std::string diffusion_data(const std::string& name) {
  return std::string(BIOGPU_TEST_DATA "/models/diffusion_") + name;
}

// A model, and what scripts/reference/diffusion_transformer.py computes of its inputs.
class LoadedDiffusion : public LoadedTrunk<models::DiffusionTransformer> {
 public:
  LoadedDiffusion(std::unique_ptr<tensor::Context> context, const std::string& name)
      : LoadedTrunk(std::move(context), diffusion_data(name)) {}

  models::TrunkInput input(const std::string& name) const {
    models::TrunkInput input;
    input.n_tokens = extent(name + "/z");
    input.noisy = numbers(name + "/a");
    input.single = numbers(name + "/s");
    input.pair = numbers(name + "/z");
    input.mask = numbers(name + "/mask");
    return input;
  }
};

}  // namespace biogpu::test
