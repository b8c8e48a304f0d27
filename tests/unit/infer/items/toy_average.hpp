#pragma once

#include <atomic>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/command.hpp"

namespace biogpu::test {

// `infer average` of a model that only the test has: the mean of each array of safetensors files,
// times a weight.
app::Run add_infer_average(CLI::App& command);

// Arrays that models computed so far, and after how many of them the next batch fails.
struct ToyCounts {
  std::atomic<int> n_arrays{0};
  std::atomic<int> n_batches{0};
  std::atomic<int> fails_at{-1};
};
ToyCounts& toy_counts();

}  // namespace biogpu::test
