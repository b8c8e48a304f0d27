#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/elementwise/tanh.hpp"

namespace biogpu::ops {

void tanh_bench(OpBench& bench) {
  if (!bench.wanted("tanh")) return;
  const std::int64_t d = bench.shape().d, n = bench.shape().n_segments;
  const BenchTensor x = bench.make({n, d}, 3, false);
  tanh(bench.context(), {x.device});
  std::vector<float> memory(x.values.begin(), x.values.begin() + d);
  const Tensor expected(memory.data(), DType::f32, {1, d});
  tanh(bench.reference(), {expected});
  const auto numbers = static_cast<double>(n * d);
  bench.add("tanh", fmt::format("{} x {}", n, d), 8 * numbers, numbers,
            bench.error(x.device, expected), [&] { tanh(bench.context(), {x.device}); });
}

}  // namespace biogpu::ops
