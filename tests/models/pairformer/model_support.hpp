#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lib/models/pairformer/pairformer.hpp"
#include "tests/models/pairformer/difference.hpp"
#include "tests/models/pairformer/loaded_trunk.hpp"

namespace biogpu::test {

inline std::string pairformer_data(const std::string& name) {
  return std::string(BIOGPU_TEST_DATA "/models/pairformer_") + name;
}

// A model, and what scripts/reference/pairformer.py computes of its inputs.
class LoadedPairformer : public LoadedTrunk<models::Pairformer> {
 public:
  LoadedPairformer(std::unique_ptr<tensor::Context> context, const std::string& folder)
      : LoadedTrunk(std::move(context), folder) {}

  models::TrunkInput input(const std::string& name) const {
    models::TrunkInput input;
    input.n_tokens = extent(name + "/z");
    input.pair = numbers(name + "/z");
    input.single = numbers(name + "/s");
    input.mask = numbers(name + "/mask");
    input.pair_mask = numbers(name + "/pair_mask");
    input.msa = numbers(name + "/m");
    input.msa_mask = numbers(name + "/msa_mask");
    if (!input.msa.empty()) input.n_rows = extent(name + "/m");
    return input;
  }
};

}  // namespace biogpu::test
