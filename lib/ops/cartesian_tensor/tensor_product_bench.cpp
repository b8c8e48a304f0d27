#include "lib/ops/cartesian_tensor/tensor_product.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_product_bench(OpBench& bench) {
  if (!bench.wanted("tensor product") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor y = bench.make({9, t, d}, 1, false);
  const BenchTensor m = bench.make({9, t, d}, 1, false);
  const BenchTensor out = bench.make({9, t, d}, 1, false);
  const TensorProduct op{y.device, m.device, {}, false, out.device};
  tensor_product(bench.context(), op);
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_product(bench.reference(), {y.host, m.host, {}, false, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor product", fmt::format("{} x {}", t, d), 108 * numbers, 150 * numbers,
            bench.error(as_rows(out.device), as_rows(expected)),
            [&] { tensor_product(bench.context(), op); });
}

}  // namespace biogpu::ops
