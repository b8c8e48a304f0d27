#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/pairformer/pairformer.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/models/pairformer/difference.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

inline std::string pairformer_data(const std::string& name) {
  return std::string(BIOGPU_TEST_DATA "/models/pairformer_") + name;
}

// A model, and what scripts/reference/pairformer.py computes of its inputs.
class LoadedPairformer {
 public:
  explicit LoadedPairformer(std::unique_ptr<tensor::Context> context, const std::string& folder)
      : context_(std::move(context)),
        model_(models::load_model<models::Pairformer>(folder, "trunk", *context_)),
        expected_(tensor::Checkpoint::open(folder + "/expected.safetensors")) {}

  models::Pairformer& model() { return *model_; }

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
    input.pair = numbers(name + "/z");
    input.single = numbers(name + "/s");
    input.mask = numbers(name + "/mask");
    input.pair_mask = numbers(name + "/pair_mask");
    input.msa = numbers(name + "/m");
    input.msa_mask = numbers(name + "/msa_mask");
    if (!input.msa.empty()) input.n_rows = expected_.tensors().at(name + "/m").shape[0];
    return input;
  }

 private:
  std::unique_ptr<tensor::Context> context_;
  std::unique_ptr<models::Pairformer> model_;
  tensor::Checkpoint expected_;
};

}  // namespace biogpu::test
