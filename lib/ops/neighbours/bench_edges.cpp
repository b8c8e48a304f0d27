#include "lib/ops/neighbours/bench_edges.hpp"

#include <cmath>

#include "lib/ops/neighbours/neighbour_list.hpp"

namespace biogpu::ops {

BenchEdges::BenchEdges(OpBench& bench)
    : positions(bench.make({bench.shape().n_rows(), 3},
                           std::cbrt(static_cast<float>(bench.shape().length) * 10.0f) / 2, false)),
      bench_(bench) {
  const Edges counted = take(bench.context(), 0);
  search(bench.context(), positions.device, counted);
  const std::int64_t capacity = edge_capacity(read_edge_count(bench.context(), counted));
  device = take(bench.context(), capacity);
  search(bench.context(), positions.device, device);
  host = take(bench.reference(), capacity);
  search(bench.reference(), positions.host, host);
}

BenchEdges::~BenchEdges() {
  for (const auto& [context, memory] : memory_) context->release(memory);
}

void BenchEdges::search(Context& context, const Tensor& x, const Edges& edges) const {
  neighbour_list(context, {x, &bench_.segments(), {}, 0, kCutoff, false, edges});
}

Edges BenchEdges::take(Context& context, std::int64_t capacity) {
  const std::int64_t n_atoms = bench_.shape().n_rows();
  const std::size_t bytes = static_cast<std::size_t>(4 * n_atoms + 28 * capacity) + 8192;
  memory_.emplace_back(&context, context.allocate(bytes));
  tensor::Arena arena(memory_.back().second, bytes);
  return capacity == 0 ? take_edge_counts(arena, n_atoms) : take_edges(arena, n_atoms, capacity);
}

}  // namespace biogpu::ops
