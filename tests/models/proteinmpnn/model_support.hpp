#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/models/proteinmpnn/design/design.hpp"
#include "lib/models/proteinmpnn/design/random.hpp"
#include "lib/models/proteinmpnn/proteinmpnn.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/proteinmpnn/random_model.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

using namespace models::proteinmpnn;  // NOLINT(google-build-using-namespace): tests of one
                                      // namespace

// From another machine's folder where the variable names one.
inline const std::string kMpnnData = [] {
  const char* const elsewhere = std::getenv("BIOGPU_TEST_DATA");
  return std::string(elsewhere != nullptr ? elsewhere : BIOGPU_TEST_DATA) + "/models/proteinmpnn/";
}();

// A model on a context that it owns.
class TestModel {
 public:
  TestModel(bool ca_only, std::unique_ptr<tensor::Context> context)
      : context_(std::move(context)),
        model_(
            models::load_model<ProteinMpnn>(RandomModel(ca_only, 1).path(), "design", *context_)) {}
  ProteinMpnn& operator*() const { return *model_; }
  ProteinMpnn* operator->() const { return model_.get(); }

 private:
  std::unique_ptr<tensor::Context> context_;
  std::unique_ptr<ProteinMpnn> model_;
};

// On the CPU. Made once: the weights take longest.
inline ProteinMpnn& cpu_model(bool ca_only) {
  static const TestModel backbone(false, ops::make_cpu_context(2));
  static const TestModel ca(true, ops::make_cpu_context(2));
  return ca_only ? *ca : *backbone;
}

class Expected {
 public:
  Expected() : checkpoint_(tensor::Checkpoint::open(kMpnnData + "expected.safetensors")) {}

  std::vector<float> values(const std::string& key) const {
    const auto& tensor = checkpoint_.tensors().at(key);
    std::vector<float> out(static_cast<std::size_t>(tensor.size()));
    REQUIRE(tensor.to_floats(out.data()));
    return out;
  }
  // Row r of a tensor whose rows have n numbers.
  std::vector<float> row(const std::string& key, std::size_t r, std::size_t n) const {
    const std::vector<float> all = values(key);
    REQUIRE(all.size() >= (r + 1) * n);
    return {all.begin() + static_cast<std::ptrdiff_t>(r * n),
            all.begin() + static_cast<std::ptrdiff_t>((r + 1) * n)};
  }

 private:
  tensor::Checkpoint checkpoint_;
};

// Infinite where a number is none: no comparison holds for those.
inline double worse(double furthest, double apart) {
  return std::isfinite(apart) ? std::max(furthest, apart) : INFINITY;
}

// A pointer is to as many numbers as there are right ones.
template <class Values>
double furthest(const Values& a, const std::vector<float>& b) {
  REQUIRE(!b.empty());
  if constexpr (!std::is_pointer_v<Values>) REQUIRE(std::size(a) == b.size());
  double furthest = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    furthest = worse(furthest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return furthest;
}

struct Case {
  std::string name;
  bool ca_only = false;
  double temperature = 1.0;
  DesignRequest request;
};

inline std::vector<Case> cases() {
  std::vector<Case> all{{"all", false, 1.0, {}},
                        {"fixed", false, 0.5, {}},
                        {"tied", false, 1.0, {}},
                        {"ca", true, 1.0, {}}};
  DesignRequest& fixed = all[1].request;
  fixed.omit = "CX";
  fixed.chain_id_jsonl = kMpnnData + "chain_id.jsonl";
  fixed.fixed_positions_jsonl = kMpnnData + "fixed_positions.jsonl";
  fixed.omit_aa_jsonl = kMpnnData + "omit_AA.jsonl";
  fixed.bias_aa_jsonl = kMpnnData + "bias_AA.jsonl";
  fixed.bias_by_res_jsonl = kMpnnData + "bias_by_res.jsonl";
  all[2].request.tied_positions_jsonl = kMpnnData + "tied_positions.jsonl";
  return all;
}

struct Task {
  Complex complex;
  Constraints constraints;
};

inline Task make_task(const Case& of) {
  const structure::Structure structure =
      structure::read_structure(kMpnnData + "edited.pdb", of.ca_only);
  const DesignInputs inputs(of.request);
  Task task;
  task.complex = make_complex(structure, inputs.chains(structure), of.ca_only, "edited.pdb");
  task.constraints = inputs.constraints(task.complex);
  return task;
}

inline std::vector<Sample> random_samples(const Task& task, std::size_t n_samples,
                                          double temperature) {
  const Random random(5);
  const auto n = static_cast<std::size_t>(task.complex.n);
  std::vector<Sample> samples(n_samples);
  for (std::uint32_t s = 0; s < samples.size(); ++s) {
    std::vector<float> noise(n);
    samples[s].uniforms.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      noise[i] = random.normal(Draw::order, s, i);
      samples[s].uniforms[i] = random.uniform(Draw::letter, s, i);
    }
    samples[s].temperature = temperature;
    samples[s].order = make_order(task.constraints, noise);
  }
  return samples;
}

// What a model is to compute of one structure, and where it goes.
struct Run {
  std::vector<Sample> samples;
  std::vector<Scoring> scorings;
  EncoderTaps taps;

  Run() = default;
  // Random samples, and the structure's own letters in the first's order.
  Run(const Task& task, std::size_t n_samples, double temperature)
      : samples(random_samples(task, n_samples, temperature)) {
    scorings.push_back({samples.front().order, task.complex.letters, {}});
  }
  Work work(const Task& task, bool tapped) {
    return {&task.complex, &task.constraints, nullptr, samples, scorings, tapped ? &taps : nullptr};
  }
  void compute(ProteinMpnn& model, const Task& task, bool tapped = false) {
    model.run(std::vector<Work>{work(task, tapped)});
  }
};

}  // namespace biogpu::test
