#include <numeric>
#include <string>

#include "lib/core/error.hpp"
#include "tests/models/proteinmpnn/model_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using namespace biogpu::test;

namespace {

TestModel make_model(bool ca_only, std::uint64_t max_device_bytes = 0) {
  tensor::ContextOptions options;
  options.max_device_bytes = max_device_bytes;
  return {ca_only, tensor::make_gpu_context(0, options)};
}

// Residues [first, first + n) of each chain of the edited structure.
Task cut(bool ca_only, std::size_t first, std::size_t n) {
  const Complex whole = make_task({"cut", ca_only, 1.0, {}}).complex;
  Complex part;
  part.name = whole.name;
  part.chains = whole.chains;
  part.n_designed = whole.n_designed;
  part.atoms = whole.atoms;
  part.begin.push_back(0);
  const auto width = static_cast<std::size_t>(3 * whole.atoms);
  for (std::size_t c = 0; c < whole.chains.size(); ++c) {
    for (std::size_t r = 0; r < n; ++r) {
      const std::size_t i = static_cast<std::size_t>(whole.begin[c]) + first + r;
      for (std::size_t x = 0; x < width; ++x)
        part.coordinates.push_back(whole.coordinates[i * width + x]);
      part.present.push_back(whole.present[i]);
      part.designed.push_back(whole.designed[i]);
      part.index.push_back(whole.index[i]);
      part.chain.push_back(whole.chain[i]);
      part.letters.push_back(whole.letters[i]);
    }
    part.n += static_cast<std::int64_t>(n);
    part.begin.push_back(part.n);
  }
  Task task{part, free_design(part)};
  task.constraints.omit[20] = 1;
  return task;
}

// The gap and the residue without an atom are among them.
Task small_task(bool ca_only) { return is_emulated() ? cut(ca_only, 9, 6) : cut(ca_only, 0, 32); }

// Everything that constraints can say, at once.
void constrain(Task& task) {
  const auto n = static_cast<std::size_t>(task.complex.n);
  Constraints& c = task.constraints;
  c.free[2] = 0;
  c.omit[1] = 1;
  c.bias[3] = 0.75;
  c.omit_at.assign(n * 21, 0);
  for (std::size_t a = 4; a < 12; ++a) c.omit_at[3 * 21 + a] = 1;
  c.bias_at.assign(n * 21, 0.0f);
  for (std::size_t i = 0; i < n * 21; ++i) c.bias_at[i] = 0.05f * static_cast<float>(i % 11);
  c.profiles.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    c.profiles[i].weight = 0.5f;
    for (std::size_t a = 0; a < 21; ++a) {
      c.profiles[i].bias[a] = 1.0f / 21;
      c.profiles[i].log_odds[a] = static_cast<float>((a + i) % 5) - 1.5f;
    }
  }
  c.profile_weight = 0.5f;
  c.use_profile_bias = c.use_log_odds = true;
}

// The same place of both chains, one pair with a residue that is not there.
void tie(Task& task) {
  const auto half = static_cast<std::int32_t>(task.complex.n / 2);
  for (const std::int32_t i : {0, 1, 3, 5}) task.constraints.tied.push_back({i, i + half});
  task.constraints.tied_weight.assign(static_cast<std::size_t>(task.complex.n), 1.0f);
  task.constraints.tied_weight[3] = -0.25f;
}

void check_equal(const Run& got, const Run& right, double margin) {
  for (std::size_t s = 0; s < right.samples.size(); ++s) {
    INFO("sample " << s);
    CHECK(got.samples[s].letters == right.samples[s].letters);
    CHECK(furthest(got.samples[s].log_probabilities, right.samples[s].log_probabilities) <= margin);
    CHECK(furthest(got.samples[s].probabilities, right.samples[s].probabilities) <= margin);
  }
  CHECK(furthest(got.scorings[0].log_probabilities, right.scorings[0].log_probabilities) <= margin);
}

}  // namespace

TEST_CASE("proteinmpnn.encoder: neighbours, features and states on the GPU are the CPU's",
          "[proteinmpnn][device]") {
  if (!has_gpu()) return;
  for (const bool ca_only : {false, true}) {
    INFO("CA only " << ca_only);
    const Task task = small_task(ca_only);
    Run cpu(task, 2, 0.7), gpu(task, 2, 0.7);
    cpu.compute(cpu_model(ca_only), task, true);
    make_model(ca_only)->run(std::vector<Work>{gpu.work(task, true)});
    CHECK(gpu.taps.neighbours == cpu.taps.neighbours);
    CHECK(gpu.taps.distances == cpu.taps.distances);
    CHECK(furthest(gpu.taps.features, cpu.taps.features) < 2e-5);
    CHECK(furthest(gpu.taps.h, cpu.taps.h) < 5e-5);
    CHECK(furthest(gpu.taps.edges, cpu.taps.edges) < 5e-5);
    check_equal(gpu, cpu, 5e-5);
  }
}

TEST_CASE("proteinmpnn.decoder: constraints and ties on the GPU give the CPU's letters",
          "[proteinmpnn][device]") {
  if (!has_gpu()) return;
  Task constrained = small_task(false), tied = small_task(false);
  constrain(constrained);
  tie(tied);
  Run cpu_constrained(constrained, 3, 2.0), gpu_constrained(constrained, 3, 2.0);
  Run cpu_tied(tied, 2, 1.0), gpu_tied(tied, 2, 1.0);
  cpu_constrained.compute(cpu_model(false), constrained, false);
  cpu_tied.compute(cpu_model(false), tied, false);
  make_model(false)->run(
      std::vector<Work>{gpu_constrained.work(constrained, false), gpu_tied.work(tied, false)});
  check_equal(gpu_constrained, cpu_constrained, 5e-5);
  check_equal(gpu_tied, cpu_tied, 5e-5);
}

TEST_CASE("proteinmpnn.decoder: on the GPU nothing depends on what comes together",
          "[proteinmpnn][device][property]") {
  if (!has_gpu()) return;
  const Task task = is_emulated() ? cut(false, 3, 2) : cut(false, 0, 32), other = cut(false, 1, 2);
  const auto model = make_model(false);
  Run together(task, 2, 0.7), more(other, 2, 0.7);
  model->run(std::vector<Work>{more.work(other, false), together.work(task, false)});
  for (std::size_t s = 0; s < together.samples.size(); ++s) {
    Run alone(task, 2, 0.7);
    alone.samples = {alone.samples[s]};
    model->run(std::vector<Work>{alone.work(task, false)});
    CHECK(alone.samples[0].letters == together.samples[s].letters);
    CHECK(alone.samples[0].log_probabilities == together.samples[s].log_probabilities);
    CHECK(alone.scorings[0].log_probabilities == together.scorings[0].log_probabilities);
  }
  // With no memory to spare: a structure at a time, a sequence at a time.
  Run apart(task, 2, 0.7), before(other, 2, 0.7);
  make_model(false, 1)->run(std::vector<Work>{before.work(other, false), apart.work(task, false)});
  for (std::size_t s = 0; s < together.samples.size(); ++s) {
    CHECK(apart.samples[s].letters == together.samples[s].letters);
    CHECK(apart.samples[s].log_probabilities == together.samples[s].log_probabilities);
    CHECK(before.samples[s].letters == more.samples[s].letters);
  }
  CHECK(apart.scorings[0].log_probabilities == together.scorings[0].log_probabilities);
}

TEST_CASE("proteinmpnn.decoder: the device's time and memory grow with its work",
          "[proteinmpnn][device]") {
  if (!has_gpu()) return;
  const Task task = cut(false, 1, 2), larger = cut(false, 0, 4);
  const auto model = make_model(false);
  CHECK(model->device_seconds() == 0);
  const auto weight_bytes = model->peak_device_bytes();
  CHECK(weight_bytes > 1'000'000);
  const auto run_once = [&](const Task& of) {
    Run run(of, 1, 1.0);
    model->run(std::vector<Work>{run.work(of, false)});
  };
  run_once(task);
  const double seconds = model->device_seconds();
  const auto bytes = model->peak_device_bytes();
  CHECK(seconds > 0);
  CHECK(bytes > weight_bytes);
  run_once(larger);
  const auto larger_bytes = model->peak_device_bytes();
  CHECK(larger_bytes > bytes);
  run_once(task);
  CHECK(model->device_seconds() > seconds);
  CHECK(model->peak_device_bytes() == larger_bytes);
}

TEST_CASE("proteinmpnn.decoder: a residue without letters is told on the GPU too",
          "[proteinmpnn][device]") {
  if (!has_gpu()) return;
  Task task = cut(false, 1, 2);
  task.constraints.omit_at.assign(static_cast<std::size_t>(task.complex.n) * 21, 0);
  std::fill_n(task.constraints.omit_at.begin() + 21, 21, std::uint8_t{1});
  Run run(task, 1, 1.0);
  try {
    make_model(false)->run(std::vector<Work>{run.work(task, false)});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "edited: position 2 of chain A may have no residue: all are omitted");
  }
}

TEST_CASE("proteinmpnn.model: the GPU gives the original's letters and probabilities",
          "[proteinmpnn][device][model]") {
  if (!has_gpu() || is_emulated()) return;
  const Expected expected;
  for (const Case& of : cases()) {
    INFO(of.name);
    const Task task = make_task(of);
    const auto n = static_cast<std::size_t>(task.complex.n);
    Run run(task, 2, of.temperature);
    for (std::size_t s = 0; s < run.samples.size(); ++s) {
      run.samples[s].order = make_order(task.constraints, expected.row(of.name + "/order", s, n));
      const auto uniforms = expected.row(of.name + "/uniform", s, n);
      run.samples[s].uniforms.assign(uniforms.begin(), uniforms.end());
    }
    Constraints untied;
    untied.free = task.constraints.free;
    run.scorings[0].order = make_order(untied, expected.values(of.name + "/order_native"));
    make_model(of.ca_only)->run(std::vector<Work>{run.work(task, true)});
    for (std::size_t s = 0; s < run.samples.size(); ++s) {
      const Sample& sample = run.samples[s];
      CHECK(furthest(sample.letters, expected.row(of.name + "/S", s, n)) == 0);
      CHECK(furthest(sample.log_probabilities, expected.row(of.name + "/log_probs", s, n * 21)) <
            1e-4);
      CHECK(furthest(sample.probabilities, expected.row(of.name + "/probs", s, n * 21)) < 1e-4);
    }
    CHECK(furthest(run.scorings[0].log_probabilities,
                   expected.values(of.name + "/native_log_probs")) < 1e-4);
    if (of.name == "all" || of.name == "ca")
      CHECK(furthest(run.taps.h, expected.values(of.name + "/h")) < 1e-4);
  }
}
