#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/pairformer/pairformer.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

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

// The largest difference, in units of the root mean square of what is right; and 1 - cosine.
struct Difference {
  double largest = 0, angle = 0;
};
template <class Got, class Right>
Difference difference(const Got& got, const Right& right) {
  REQUIRE(got.size() == right.size());
  double largest = 0, squares = 0, own = 0, both = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double x = got[i], y = right[i];
    largest = worse_of(largest, std::fabs(x - y));
    squares += y * y;
    own += x * x;
    both += x * y;
  }
  const double size =
      std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, right.size())));
  return {largest / size, 1 - both / std::sqrt(own * squares)};
}

}  // namespace biogpu::test
