#pragma once

#include <memory>
#include <string>

#include "lib/ops/bench/bench.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::app {

// One device for measurements.
struct BenchDevice {
  std::unique_ptr<tensor::Context> context;
  std::string name;
  tensor::Precision precision = tensor::Precision::fp32;
  int n_threads = 1;
  ops::Roofline roofline;
};

// What --device, --precision (of a GPU; the CPU has fp32) and --threads (0: all) ask for; `auto`
// takes a GPU where there is one.
BenchDevice open_bench_device(const std::string& device, const std::string& precision,
                              int n_threads);

}  // namespace biogpu::app
