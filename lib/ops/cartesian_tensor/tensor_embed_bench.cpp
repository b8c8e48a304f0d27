#include "lib/ops/cartesian_tensor/tensor_embed.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_embed_bench(OpBench& bench) {
  if (!bench.wanted("tensor embedding") || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels,
                     n = edges.device.capacity();
  const BenchTensor weights = bench.make({n, 3, d}, 1, false);
  const BenchTensor out = bench.make({9, t, d}, 1, false);
  const TensorEmbed op{weights.device, &edges.device, out.device};
  tensor_embed(bench.context(), op);
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_embed(bench.reference(), {weights.host, &edges.host, expected});
  const auto numbers = static_cast<double>(n * d);
  bench.add("tensor embedding", fmt::format("{} atoms, {} edges x {}", t, n, d),
            12 * numbers + 36 * static_cast<double>(t * d), 18 * numbers,
            bench.error(as_rows(out.device), as_rows(expected)),
            [&] { tensor_embed(bench.context(), op); });
}

}  // namespace biogpu::ops
