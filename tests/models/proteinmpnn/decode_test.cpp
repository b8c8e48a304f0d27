#include "lib/models/proteinmpnn/ops/decode.hpp"

#include "lib/ops/reference_context.hpp"
#include "tests/models/proteinmpnn/model_support.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using namespace biogpu::models::proteinmpnn;
using namespace biogpu::test;

TEST_CASE("proteinmpnn.decoder: the model in double precision gives the same", "[proteinmpnn]") {
  for (const std::size_t c : {std::size_t{1}, std::size_t{2}}) {  // fixed and omitted; tied
    const Task task = make_task(cases()[c]);
    Run right(task, 1, 1.0), run(task, 1, 1.0);
    right.compute(*TestModel(false, ops::make_reference_context()), task, true);
    run.compute(cpu_model(false), task, true);
    CHECK(run.taps.neighbours == right.taps.neighbours);
    CHECK(run.samples[0].letters == right.samples[0].letters);
    CHECK(furthest(run.samples[0].log_probabilities, right.samples[0].log_probabilities) < 5e-5);
    CHECK(furthest(run.scorings[0].log_probabilities, right.scorings[0].log_probabilities) < 5e-5);
  }
}

TEST_CASE("proteinmpnn.decoder: samples do not depend on company or threads",
          "[proteinmpnn][property]") {
  const Task task = make_task(cases()[0]);
  const TestModel three(false, ops::make_cpu_context(3)), one(false, ops::make_cpu_context(1));
  Run together(task, 5, 0.7);
  together.compute(*three, task);
  const Run fresh(task, 5, 0.7);
  for (std::size_t s = 0; s < fresh.samples.size(); ++s) {
    Run alone;
    alone.samples = {fresh.samples[s]};
    alone.compute(*one, task);
    CHECK(alone.samples[0].letters == together.samples[s].letters);
    CHECK(alone.samples[0].log_probabilities == together.samples[s].log_probabilities);
    // What a sample's letters were drawn from is what scoring them in one pass gives.
    Run scored;
    scored.scorings.push_back({fresh.samples[s].order, alone.samples[0].letters, {}});
    scored.compute(*one, task);
    CHECK(furthest(scored.scorings[0].log_probabilities, alone.samples[0].log_probabilities) <
          1e-5);
  }
}

TEST_CASE("proteinmpnn.decoder: fixed, omitted and tied residues stay so",
          "[proteinmpnn][property]") {
  const std::vector<Case> all = cases();
  const Task fixed = make_task(all[1]), tied = make_task(all[2]);
  Run of_fixed(fixed, 8, 5.0), of_tied(tied, 4, 5.0);
  of_fixed.compute(cpu_model(false), fixed);
  of_tied.compute(cpu_model(false), tied);
  for (const Sample& sample : of_fixed.samples)
    for (std::size_t i = 0; i < sample.letters.size(); ++i) {
      if (fixed.constraints.free[i] == 0) {
        REQUIRE(sample.letters[i] == fixed.complex.letters[i]);
        continue;
      }
      REQUIRE(fixed.constraints.omit[sample.letters[i]] == 0);
      REQUIRE(fixed.constraints.omit_at[i * 21 + sample.letters[i]] == 0);
      double sum = 0;
      for (std::size_t a = 0; a < 21; ++a)
        sum += static_cast<double>(sample.probabilities[i * 21 + a]);
      REQUIRE(sum == Approx(1).margin(1e-5));
    }
  for (const Sample& sample : of_tied.samples)
    for (const auto& group : tied.constraints.tied)
      for (const std::int32_t i : group)
        REQUIRE(sample.letters[static_cast<std::size_t>(i)] ==
                sample.letters[static_cast<std::size_t>(group[0])]);
}
