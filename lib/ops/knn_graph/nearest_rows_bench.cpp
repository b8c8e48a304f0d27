#include "lib/ops/knn_graph/nearest_rows.hpp"

#include <fmt/format.h>

#include "lib/ops/knn_graph/bench_graph.hpp"

namespace biogpu::ops {

void nearest_rows_bench(OpBench& bench) {
  if (!bench.wanted("nearest rows") || !BenchGraph::suits(bench)) return;
  BenchGraph graph(bench);
  constexpr std::int64_t kNodes = BenchGraph::kNodes, kEdges = BenchGraph::kEdges;
  const BenchTensor& points = graph.make({kNodes, 5, 3}, 25);
  const BenchTensor& distances = graph.make({kNodes, kEdges}, 1);
  const BenchIndices rows = bench.make_indices(kNodes * kEdges, kNodes);
  BenchIndices segments = bench.make_indices(2 * kNodes, 1);
  for (std::size_t i = 1; i < segments.values.size(); i += 2)
    segments.values[i] = static_cast<std::int32_t>(kNodes);
  bench.context().copy_in(segments.device, segments.values.data());
  const BenchIndices counts = bench.make_indices(kNodes, 1);
  const auto op = [&](bool is_device) {
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    return NearestRows{of(points),
                       1,
                       graph.present(is_device),
                       {of(segments).data, DType::i32, {kNodes, 2}},
                       {of(rows).data, DType::i32, {kNodes, kEdges}},
                       of(distances),
                       of(counts)};
  };
  nearest_rows(bench.reference(), op(false));
  nearest_rows(bench.context(), op(true));
  const auto pairs = static_cast<double>(kNodes * kNodes);
  bench.add("nearest rows", fmt::format("{} of {} rows", kEdges, kNodes), 12 * pairs, 8 * pairs,
            bench.error(distances.device, distances.host),
            [&] { nearest_rows(bench.context(), op(true)); });
}

}  // namespace biogpu::ops
