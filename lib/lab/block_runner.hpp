#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/lab/block_case.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/kernel_use.hpp"

namespace biogpu::lab {

// Runs one case, with memory for what lies between its operations.
class BlockRunner {
 public:
  // name: of ranges.
  BlockRunner(tensor::Context& context, BlockCase& block, std::string name);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  std::size_t peak_bytes() const { return peak_; }
  // A key by which the context repeats the operations of one run of one case.
  static std::uint64_t make_key();
  // Seconds of one run: the device's, or the clock's where it tells none. ranges: names the run for
  // a profiler.
  double run(std::uint64_t key, bool ranges = false);
  std::vector<tensor::KernelUse> kernels(int n_runs);

 private:
  void queue();

  tensor::Context& context_;
  BlockCase& block_;
  const std::string name_;
  std::size_t peak_ = 0;
  void* memory_ = nullptr;
};

}  // namespace biogpu::lab
