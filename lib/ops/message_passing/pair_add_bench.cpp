#include "lib/ops/message_passing/pair_add.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void pair_add_bench(OpBench& bench) {
  if (!bench.wanted("pair add") || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels,
                     n = edges.device.capacity();
  const BenchTensor x = bench.make({n, d}, 1, false), receiver = bench.make({t, d}, 1, false),
                    neighbour = bench.make({t, d}, 1, false), out = bench.make({n, d}, 1, false);
  const PairAdd op{x.device, receiver.device, neighbour.device, &edges.device, out.device};
  pair_add(bench.context(), op);
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {n, d});
  pair_add(bench.reference(), {x.host, receiver.host, neighbour.host, &edges.host, expected});
  const auto numbers = static_cast<double>(n * d);
  bench.add("pair add", fmt::format("{} atoms, {} edges x {}", t, n, d), 8 * numbers, 2 * numbers,
            bench.error(out.device, expected.slice(0, 0, edges.count())),
            [&] { pair_add(bench.context(), op); });
}

}  // namespace biogpu::ops
