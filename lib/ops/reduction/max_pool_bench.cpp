#include "lib/ops/reduction/max_pool.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void max_pool_bench(OpBench& bench) {
  if (!bench.wanted("max pool")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = t / 2;
  const BenchTensor x = bench.make({t, d}, 1, false), out = bench.make({n, d}, 1, false);
  const Ragged pooled = bench.shortened(2);
  const MaxPool op{x.device, 2, &bench.segments(), &pooled, out.device, {}};
  max_pool(bench.context(), op);
  const Ragged rows = OpBench::one_segment(2 * OpBench::kRows),
               few = OpBench::one_segment(OpBench::kRows);
  std::vector<float> memory(static_cast<std::size_t>(OpBench::kRows * d));
  const Tensor expected(memory.data(), DType::f32, {OpBench::kRows, d});
  max_pool(bench.reference(), {x.host_rows(rows.n_rows), 2, &rows, &few, expected, {}});
  const auto numbers = static_cast<double>(n * d);
  bench.add("max pool", fmt::format("{} x {}", t, d), 12 * numbers, numbers,
            bench.error(out.device, expected), [&] { max_pool(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace biogpu::ops
