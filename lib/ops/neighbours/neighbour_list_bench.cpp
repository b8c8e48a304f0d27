#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"

namespace biogpu::ops {

void neighbour_list_bench(OpBench& bench) {
  if (!bench.wanted("neighbour list") || !BenchEdges::suits(bench)) return;
  const std::int64_t n = bench.shape().length, t = bench.shape().n_rows();
  const BenchEdges edges(bench);
  const double error =
      bench.error(Tensor(edges.device.distance.data, DType::f32, {edges.count(), 1}),
                  Tensor(edges.host.distance.data, DType::f32, {edges.count(), 1}));
  const auto pairs = static_cast<double>(t) * static_cast<double>(n);
  bench.add("neighbour list", fmt::format("{} atoms, {} a molecule", t, n),
            28 * static_cast<double>(edges.device.capacity()), 12 * pairs, error,
            [&] { edges.search(bench.context(), edges.positions.device, edges.device); });
}

}  // namespace biogpu::ops
