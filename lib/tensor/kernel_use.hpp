#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace biogpu::tensor {

class Context;

// A launch of a kernel, and what its blocks take of a multiprocessor.
struct KernelUse {
  std::string symbol;  // as the compiler names it; empty: not told
  std::uint64_t n_blocks = 0;
  std::uint32_t n_threads = 0;   // of a block
  int registers = -1;            // of a thread; -1: not told
  std::size_t shared_bytes = 0;  // of a block, static and dynamic; told where registers are
  std::size_t local_bytes = 0;   // of a thread, in memory, for what registers do not hold; likewise
  double occupancy = -1;  // share of a multiprocessor's waves that can run at a time; -1: not told
  double seconds = 0;     // the least of its runs
};

// The kernels of what the body queues, in order, after n_runs of it. The body does nothing but call
// operations on memory of one arena, and ran before. Empty for other contexts than a GPU's, on the
// emulated platform, and where kernels may run side by side.
std::vector<KernelUse> list_kernels(Context& context, int n_runs,
                                    const std::function<void()>& body);

// Arguments of the context's operation "tensor.list_kernels".
struct ListKernels {
  int n_runs;
  const std::function<void()>* body;
  std::vector<KernelUse>* kernels;
};

}  // namespace biogpu::tensor
