#include "lib/ops/cartesian_tensor/tensor_embed_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_embed_grad_bench(OpBench& bench) {
  if (!bench.wanted("tensor embedding gradient") || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels,
                     n = edges.device.capacity();
  const BenchTensor weights = bench.make({n, 3, d}, 1, false);
  const BenchTensor d_out = bench.make({9, t, d}, 1, false);
  const BenchTensor d_weights = bench.make({n, 3, d}, 1, false);
  const BenchTensor d_r = bench.make({n, 3}, 1, false);
  const TensorEmbedGrad op{weights.device, &edges.device, d_out.device, d_weights.device,
                           d_r.device};
  tensor_embed_grad(bench.context(), op);
  std::vector<float> unused_memory(d_r.values.size());
  const Tensor unused(unused_memory.data(), DType::f32, {n, 3});
  std::vector<float> memory(d_weights.values.size());
  const Tensor expected(memory.data(), DType::f32, {n, 3, d});
  tensor_embed_grad(bench.reference(), {weights.host, &edges.host, d_out.host, expected, unused});
  const auto numbers = static_cast<double>(n * d);
  bench.add("tensor embedding gradient", fmt::format("{} atoms, {} edges x {}", t, n, d),
            24 * numbers + 36 * static_cast<double>(t * d), 36 * numbers,
            bench.error(as_rows(d_weights.device), as_rows(expected.slice(0, 0, edges.count()))),
            [&] { tensor_embed_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
