#include "lib/ops/neighbours/neighbour_list_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void neighbour_list_grad_bench(OpBench& bench) {
  if (!bench.wanted("neighbour list gradient") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows();
  const BenchEdges edges(bench);
  const std::int64_t capacity = edges.device.capacity();
  const BenchTensor d_distance = bench.make({capacity}, 1, false);
  const BenchTensor d_displacement = bench.make({capacity, 3}, 1, false);
  const BenchTensor d_positions = bench.make({t, 3}, 1, false);
  const NeighbourListGrad op{&edges.device, d_distance.device, d_displacement.device,
                             d_positions.device};
  neighbour_list_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(3 * t));
  const Tensor expected(memory.data(), DType::f32, {t, 3});
  neighbour_list_grad(bench.reference(),
                      {&edges.host, d_distance.host, d_displacement.host, expected});
  const auto numbers = static_cast<double>(capacity);
  bench.add("neighbour list gradient", fmt::format("{} atoms, {} edges", t, capacity), 44 * numbers,
            15 * numbers, bench.error(d_positions.device, expected),
            [&] { neighbour_list_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
