#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_norm_grad_bench(OpBench& bench) {
  if (!bench.wanted("tensor norm gradient") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor x = bench.make({9, t, d}, 1, false);
  const BenchTensor d_out = bench.make({t, 3, d}, 1, false);
  const BenchTensor d_x = bench.make({9, t, d}, 1, false);
  const TensorNormGrad op{x.device, d_out.device, d_x.device};
  tensor_norm_grad(bench.context(), op);
  std::vector<float> memory(d_x.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_norm_grad(bench.reference(), {x.host, d_out.host, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor norm gradient", fmt::format("{} x {}", t, d), 84 * numbers, 20 * numbers,
            bench.error(as_rows(d_x.device), as_rows(expected)),
            [&] { tensor_norm_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
