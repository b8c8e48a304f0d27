#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/reduction/adaptive_mean.hpp"

namespace biogpu::ops {

void adaptive_mean_bench(OpBench& bench) {
  if (!bench.wanted("adaptive mean")) return;
  const std::int64_t b = bench.shape().n_segments, n = bench.shape().length, m = n / 3 + 1,
                     d = bench.shape().d;
  const BenchTensor x = bench.make({b, n, d}, 1, false), out = bench.make({b, m, d}, 1, false);
  const AdaptiveMean op{x.device, out.device};
  adaptive_mean(bench.context(), op);
  // The reference computes the first batch.
  std::vector<float> memory(static_cast<std::size_t>(m * d));
  const Tensor expected(memory.data(), DType::f32, {m, d});
  adaptive_mean(bench.reference(), {x.host.slice(0, 0, 1), {memory.data(), DType::f32, {1, m, d}}});
  const auto numbers = static_cast<double>(b * n * d);
  bench.add("adaptive mean", fmt::format("{} x {} to {} x {}", b, n, m, d),
            4 * (numbers + static_cast<double>(b * m * d)), numbers,
            bench.error({out.device.data, out.device.dtype, {m, d}}, expected),
            [&] { adaptive_mean(bench.context(), op); });
}

}  // namespace biogpu::ops
