#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/protein_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tasks/embed.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

namespace biogpu::test {

using tasks::Tokens;

// The source tree's, or where an installed test is told that it lies.
inline const std::string kData = [] {
  const char* const elsewhere = std::getenv("BIOGPU_TEST_DATA");
  return std::string(elsewhere != nullptr ? elsewhere : BIOGPU_TEST_DATA) + "/models/";
}();
inline const auto kModels = {"esm2_head16",     "esm2_head24",  "esm2_head32",
                             "esm2_head64",     "esm2_head128", "protbert_head16",
                             "protbert_head32", "esm2_head10",  "protbert_head11"};

// What scripts/reference/make_vectors.py ran through transformers.
inline const std::vector<std::pair<std::string, std::string>> kSequences = {
    {"one", "M"},
    {"seven", "MKTAYIA"},
    {"masked", "MKT<mask>LLAGPW<mask>CDE<mask>FG"},
    {"letters", "LAGVSERTIDPKQNFYMHWCXBUZO"},
    {"longer", "GSHMRYDWVELKNATCIPQFLSTEEWGKRAHVDINQYPMCLLAVGKTSDERFWNHQYI"}};

struct Loaded {
  std::unique_ptr<tensor::Context> backend;
  std::unique_ptr<models::ProteinModel> model;

  explicit Loaded(const std::string& name, std::unique_ptr<tensor::Context> on = nullptr)
      : backend(on ? std::move(on) : ops::make_cpu_context(2)),
        model(models::load_model<models::ProteinModel>(kData + name, "embed", *backend)) {}

  Tokens tokens(const std::string& sequence) const {
    return models::tokenize(model->info().vocabulary, sequence, {}, "test");
  }
};

// Everything of some sequences under the keys of make_vectors.py.
inline std::vector<io::NamedArray> compute(Loaded& loaded, const std::vector<std::size_t>& which,
                                           std::int64_t budget) {
  tasks::ArrayOptions options;
  for (int i = 0; i <= static_cast<int>(loaded.model->info().n_layers); ++i)
    if (i == 0) {
      options.layers = {0};
    } else {
      options.layers.push_back(i);
    }
  options.residues = options.mean = options.begin = true;
  options.logits = loaded.model->info().has_logits;
  options.contacts = loaded.model->info().has_contacts;
  std::vector<std::string> names;
  std::vector<Tokens> sequences;
  for (const std::size_t i : which) {
    names.push_back(kSequences[i].first);
    sequences.push_back(loaded.tokens(kSequences[i].second));
  }
  pipeline::RecordOutputs result;
  tasks::compute_arrays(*loaded.model, names, sequences, options, budget, result);
  return result.arrays;
}

// Largest difference over the largest number of the reference.
inline double difference(const io::SharedArray& got, const io::SharedArray& right) {
  double worst = 0, largest = 1e-30;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(got[i]) - static_cast<double>(right[i]));
    worst = worse_of(worst, apart);
    largest = std::max(largest, std::fabs(static_cast<double>(right[i])));
  }
  return worst / largest;
}

inline void check_against_vectors(const std::string& name, Loaded& loaded, double bound) {
  const auto expected = tensor::Checkpoint::open(kData + name + "/expected.safetensors");
  const auto arrays = compute(loaded, {0, 1, 2, 3, 4}, 1000);
  CHECK(arrays.size() == expected.tensors().size());
  for (const io::NamedArray& array : arrays) {
    INFO(name << " " << array.key);
    REQUIRE(expected.tensors().count(array.key) == 1);
    const tensor::StoredTensor& stored = expected.tensors().at(array.key);
    REQUIRE(stored.shape == array.shape);
    std::vector<float> right(static_cast<std::size_t>(stored.size()));
    REQUIRE(stored.to_floats(right.data()));
    CHECK(difference(array.values, right) < bound);
  }
}

}  // namespace biogpu::test
