#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lib/lab/baseline.hpp"
#include "lib/lab/run_block.hpp"
#include "lib/ops/bench/bench.hpp"

namespace biogpu::app {

// The table and the JSON of `biogpu lab run`. on_gpu: with columns of kernels. baseline: an earlier
// run, or null.
std::string block_heading(bool on_gpu, const lab::Baseline* baseline);
std::string block_row(const lab::BlockResult& result, const ops::Roofline& roofline, bool on_gpu,
                      const lab::Baseline* baseline);
nlohmann::ordered_json block_json(const lab::BlockResult& result, const ops::Roofline& roofline,
                                  const lab::Baseline* baseline);

}  // namespace biogpu::app
