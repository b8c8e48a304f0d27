#include "lib/ops/elementwise/silu.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void silu_bench(OpBench& bench) {
  if (!bench.wanted("silu")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 3, false), out = bench.make({t, d}, 1, true);
  const Silu op{x.device, out.device};
  silu(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  silu(bench.reference(), {x.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("silu", fmt::format("{} x {}", t, d), (4 + bench.operand_bytes()) * numbers,
            4 * numbers, bench.error(out.device, expected), [&] { silu(bench.context(), op); });
}

}  // namespace biogpu::ops
