#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_product_grad_bench(OpBench& bench) {
  if (!bench.wanted("tensor product gradient") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor y = bench.make({9, t, d}, 1, false);
  const BenchTensor m = bench.make({9, t, d}, 1, false);
  const BenchTensor d_out = bench.make({9, t, d}, 1, false);
  const BenchTensor d_y = bench.make({9, t, d}, 1, false);
  const BenchTensor d_m = bench.make({9, t, d}, 1, false);
  const TensorProductGrad op{y.device, m.device, {}, false, d_out.device, d_y.device, d_m.device};
  tensor_product_grad(bench.context(), op);
  std::vector<float> unused_memory(d_y.values.size());
  const Tensor unused(unused_memory.data(), DType::f32, {9, t, d});
  std::vector<float> memory(d_m.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_product_grad(bench.reference(), {y.host, m.host, {}, false, d_out.host, unused, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor product gradient", fmt::format("{} x {}", t, d), 180 * numbers, 400 * numbers,
            bench.error(as_rows(d_m.device), as_rows(expected)),
            [&] { tensor_product_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
