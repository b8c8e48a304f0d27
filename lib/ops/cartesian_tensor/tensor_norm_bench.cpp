#include "lib/ops/cartesian_tensor/tensor_norm.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_norm_bench(OpBench& bench) {
  if (!bench.wanted("tensor norm") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor x = bench.make({9, t, d}, 1, false);
  const BenchTensor out = bench.make({t, 3, d}, 1, false);
  const TensorNorm op{x.device, out.device};
  tensor_norm(bench.context(), op);
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {t, 3, d});
  tensor_norm(bench.reference(), {x.host, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor norm", fmt::format("{} x {}", t, d), 48 * numbers, 20 * numbers,
            bench.error(as_rows(out.device), as_rows(expected)),
            [&] { tensor_norm(bench.context(), op); });
}

}  // namespace biogpu::ops
