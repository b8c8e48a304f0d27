#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::ops {

void gather_rows_bench(OpBench& bench) {
  if (!bench.wanted("gather rows")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), out = bench.make({t, d}, 1, true);
  const BenchIndices rows = bench.make_indices(t, t);
  const GatherRows op{x.device, rows.device, out.device};
  gather_rows(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  gather_rows(bench.reference(), {x.host, rows.host.slice(0, 0, n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("gather rows", fmt::format("{} x {}", t, d), (4 + bench.operand_bytes()) * numbers, 0,
            bench.error(out.device, expected), [&] { gather_rows(bench.context(), op); });
}

}  // namespace biogpu::ops
