#include "lib/models/proteinmpnn/bench.hpp"

#include <algorithm>
#include <chrono>

#include "lib/models/proteinmpnn/design/random.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr int kWarmUp = 3;

std::vector<Sample> make_samples(const Constraints& constraints, std::int64_t n) {
  const Random random(1);
  std::vector<Sample> samples(static_cast<std::size_t>(n));
  for (std::uint32_t s = 0; s < samples.size(); ++s) {
    std::vector<float> noise;
    for (std::uint32_t i = 0; i < constraints.free.size(); ++i) {
      noise.push_back(random.normal(Draw::order, s, i));
      samples[s].uniforms.push_back(random.uniform(Draw::letter, s, i));
    }
    samples[s].order = make_order(constraints, noise);
  }
  return samples;
}

StageTiming timing(const char* stage, const Work& work, std::int64_t n_sequences, int n_runs,
                   const std::function<void(std::span<const Work> works)>& compute) {
  std::vector<double> seconds;
  for (int run = 0; run < n_runs + kWarmUp; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    compute(std::span(&work, 1));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (run >= kWarmUp) seconds.push_back(taken.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return {stage, work.complex->n, n_sequences, seconds[seconds.size() / 2], seconds.front()};
}

}  // namespace

std::vector<StageTiming> bench_structure(
    const Complex& complex, const std::vector<std::int64_t>& n_sequences, int n_runs,
    const std::function<void(std::span<const Work> works)>& compute) {
  Constraints constraints = free_design(complex);
  constraints.omit.back() = 1;
  std::vector<StageTiming> timings;
  for (const std::int64_t n : n_sequences) {
    std::vector<Sample> samples = make_samples(constraints, n);
    std::vector<Scoring> scorings;
    scorings.reserve(samples.size());
    for (const Sample& sample : samples) scorings.push_back({sample.order, complex.letters, {}});
    const Work draws{&complex, &constraints, nullptr, samples, {}, nullptr};
    const Work scores{&complex, &constraints, nullptr, {}, scorings, nullptr};
    timings.push_back(timing("sample", draws, n, n_runs, compute));
    timings.push_back(timing("score", scores, n, n_runs, compute));
  }
  return timings;
}

}  // namespace biogpu::models::proteinmpnn
