#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/models/proteinmpnn/network/work.hpp"
#include "lib/ops/bench/bench.hpp"

namespace biogpu::models::proteinmpnn {

// For ops::run_op_bench(): the operations on a graph of nearest residues.
void edge_embed_bench(ops::OpBench& bench);
void edge_message_bench(ops::OpBench& bench);
void edge_update_bench(ops::OpBench& bench);
void nearest_rows_bench(ops::OpBench& bench);

// Seconds of the host for one structure, from its coordinates to letters and log-probabilities.
struct StageTiming {
  std::string stage;  // "sample": all letters drawn; "score": those of the structure
  std::int64_t n_residues = 0;
  std::int64_t n_sequences = 0;
  double median_s = 0;
  double least_s = 0;
};

// Times compute() over the letters of a structure, n_sequences at once for each number given.
std::vector<StageTiming> bench_structure(
    const Complex& complex, const std::vector<std::int64_t>& n_sequences, int n_runs,
    const std::function<void(std::span<const Work> works)>& compute);

}  // namespace biogpu::models::proteinmpnn
