#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"

namespace biogpu::ops {

void log_softmax_bench(OpBench& bench) {
  if (!bench.wanted("log softmax")) return;
  // In place; applied to its result it gives the same again, so it can be repeated.
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kRows, v = OpBench::kTokens;
  const BenchTensor x = bench.make({t, v}, 10, false);
  log_softmax(bench.context(), {x.device});
  std::vector<float> memory(x.values.begin(), x.values.begin() + n * v);
  const Tensor expected(memory.data(), DType::f32, {n, v});
  log_softmax(bench.reference(), {expected});
  const auto numbers = static_cast<double>(t * v);
  bench.add("log softmax", fmt::format("{} x {}", t, v), 8 * numbers, 5 * numbers,
            bench.error(x.device, expected), [&] { log_softmax(bench.context(), {x.device}); });
}

}  // namespace biogpu::ops
