#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/neighbour_list.hpp"

namespace biogpu::ops {

// Atoms at the density of proteins, 0.1 per cubic angstrom, and a cutoff of 4.5 angstrom; each
// segment is a molecule.
void neighbour_list_bench(OpBench& bench) {
  if (!bench.wanted("neighbour list")) return;
  const std::int64_t n = bench.shape().length, t = bench.shape().n_rows();
  const float half = std::cbrt(static_cast<float>(n) * 10.0f) / 2, cutoff = 4.5f;
  const BenchTensor x = bench.make({t, 3}, half, false);
  tensor::Context& context = bench.context();
  const auto search = [&](Context& on, const Tensor& positions, const Ragged& segments,
                          const Edges& edges) {
    neighbour_list(on, {positions, &segments, {}, 0, cutoff, false, edges});
  };
  const auto take = [](Context& on, std::int64_t n_atoms, std::int64_t capacity) {
    const std::size_t bytes = static_cast<std::size_t>(4 * n_atoms + 28 * capacity) + 8192;
    tensor::Arena arena(on.allocate(bytes), bytes);
    return capacity == 0 ? take_edge_counts(arena, n_atoms) : take_edges(arena, n_atoms, capacity);
  };
  const Edges counted = take(context, t, 0);
  search(context, x.device, bench.segments(), counted);
  const std::int64_t capacity = edge_capacity(read_edge_count(context, counted));
  const Edges edges = take(context, t, capacity);
  search(context, x.device, bench.segments(), edges);
  // The first segment's distances are the reference's.
  const Ragged first = OpBench::one_segment(n);
  const Edges expected = take(bench.reference(), n, capacity);
  search(bench.reference(), x.host, first, expected);
  const std::int64_t n_first = *expected.count.as<std::int32_t>();
  const double error = bench.error(Tensor(edges.distance.data, DType::f32, {n_first, 1}),
                                   Tensor(expected.distance.data, DType::f32, {n_first, 1}));
  const auto pairs = static_cast<double>(t) * static_cast<double>(n);
  bench.add("neighbour list", fmt::format("{} atoms, {} a molecule", t, n),
            28 * static_cast<double>(capacity), 12 * pairs, error,
            [&] { search(context, x.device, bench.segments(), edges); });
  for (const Edges& made : {counted, edges}) context.release(made.starts.data);
  bench.reference().release(expected.starts.data);
}

}  // namespace biogpu::ops
