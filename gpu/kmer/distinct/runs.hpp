#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

// Blocks that the run kernels cut n sorted values into.
std::size_t n_run_blocks(std::size_t n);

// The distinct values of a sorted list and how often each occurs. Device memory throughout.
struct RunsArgs {
  const std::uint64_t* sorted = nullptr;  // [n]
  std::uint64_t n = 0;
  // [ceil(n / 16)] bit i % 16 of word i / 16: a run begins at i. Where it is given, sorted and
  // distinct are not looked at.
  const std::uint16_t* begins = nullptr;
  std::uint32_t* n_in_block = nullptr;  // [n_run_blocks(n)], written
  std::uint64_t* block_begin =
      nullptr;  // [n_run_blocks(n) + 1], written; the last is the number of runs
  std::uint64_t* distinct = nullptr;    // written; room for all runs
  std::uint64_t* run_begin = nullptr;   // [number of runs + 1], written: where runs begin in sorted
  std::uint32_t* run_length = nullptr;  // [number of runs], written
};

// Counts the runs: fills n_in_block and block_begin.
void launch_count_runs(const RunsArgs& args, Stream& stream);
// Then lists them: fills distinct, run_begin and run_length. n_runs: block_begin's last.
void launch_list_runs(const RunsArgs& args, std::uint64_t n_runs, Stream& stream);

}  // namespace biogpu::gpu::kmer
