#include "lib/ops/normalisation/softmax.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void softmax_bench(OpBench& bench) {
  if (!bench.wanted("softmax")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 10, true), out = bench.make({t, d}, 1, true);
  Softmax op;
  op.x = x.device;
  op.axis = 1;
  op.out = out.device;
  softmax(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  Softmax host = op;
  host.x = x.host_rows(n);
  host.out = expected;
  softmax(bench.reference(), host);
  const auto numbers = static_cast<double>(t * d);
  bench.add("softmax", fmt::format("{} x {}", t, d), 2 * bench.operand_bytes() * numbers,
            5 * numbers, bench.error(out.device, expected), [&] { softmax(bench.context(), op); });
}

}  // namespace biogpu::ops
