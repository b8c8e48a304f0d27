#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/reduction/mean_pool.hpp"

namespace biogpu::ops {

void mean_pool_bench(OpBench& bench) {
  if (!bench.wanted("mean pool")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const BenchTensor x = bench.make({t, d}, 1, false);
  const BenchTensor means = bench.make({bench.shape().n_segments, d}, 1, false);
  const MeanPool op{x.device, &bench.segments(), 1, 1, means.device};
  mean_pool(bench.context(), op);
  // The reference computes the first segment's.
  const Ragged first = OpBench::one_segment(bench.shape().length);
  std::vector<float> memory(static_cast<std::size_t>(d));
  const Tensor expected(memory.data(), DType::f32, {1, d});
  mean_pool(bench.reference(), {x.host_rows(bench.shape().length), &first, 1, 1, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("mean pool", fmt::format("{} x {}", t, d), 4 * numbers, numbers,
            bench.error(means.device, expected), [&] { mean_pool(bench.context(), op); });
}

}  // namespace biogpu::ops
