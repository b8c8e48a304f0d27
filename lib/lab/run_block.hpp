#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/kernel_use.hpp"

namespace biogpu::lab {

struct RunSettings {
  double seconds_each = 0.2;          // of timed runs, of which the median is taken
  int min_runs = 3, max_runs = 1000;  // 0: compared alone
  int n_rows = 16;                    // of the output that are computed in double precision
  std::uint64_t seed = 1;
  bool ranges = false;        // names each timed run for a profiler
  bool lists_kernels = true;  // on a GPU, after the timed runs
};

struct BlockResult {
  std::string block;  // Block::label()
  Extents extents;
  double median_s = 0, least_s = 0;
  double operations = 0, bytes = 0;
  double error = 0;            // the largest, relative to the root mean square of what is right
  double angle = 0;            // 1 - cosine of what the block adds
  std::size_t peak_bytes = 0;  // of tensors between the operations
  std::vector<tensor::KernelUse> kernels;  // of one run, in order; empty where they are not told
};

// Runs a block with random numbers, compares rows of its output with double precision, and times
// it: the device's seconds of a recorded graph where it tells them, else the clock's. Throws
// Error{failed} where the result is off by more than roundings: what is wrong is not timed.
BlockResult run_block(tensor::Context& context, const Block& block, const Extents& extents,
                      const RunSettings& settings);

// What an error and an angle may be in a precision: 1 - cosine of ten roundings across.
double max_error(tensor::Precision precision);
double max_angle(tensor::Precision precision);

}  // namespace biogpu::lab
