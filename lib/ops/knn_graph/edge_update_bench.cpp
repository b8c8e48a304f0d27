#include "lib/ops/knn_graph/edge_update.hpp"

#include <fmt/format.h>

#include "lib/ops/knn_graph/bench_graph.hpp"

namespace biogpu::ops {

void edge_update_bench(OpBench& bench) {
  if (!bench.wanted("edge update") || !BenchGraph::suits(bench)) return;
  using tensor::BlockUse;
  constexpr std::int64_t kNodes = BenchGraph::kNodes, kEdges = BenchGraph::kEdges,
                         kWidth = BenchGraph::kWidth;
  BenchGraph graph(bench);
  const BenchTensor& edges = graph.make({kNodes, kEdges, kWidth}, 1);
  const BenchTensor& ends = graph.make({kNodes, 2 * kWidth}, 1);
  const auto edge = graph.map(kWidth, kWidth, BlockUse::edges, false);
  const auto middle = graph.map(kWidth, kWidth, BlockUse::edges, true);
  const auto last = graph.map(kWidth, kWidth, BlockUse::edges, true);
  const auto norm = graph.norm();
  const auto op = [&](bool is_device, std::int64_t n) {
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    const auto map = [&](const BenchGraph::Map& both) {
      return is_device ? &both.device : &both.host;
    };
    return EdgeUpdate{of(edges).slice(0, 0, n),
                      graph.counts(is_device),
                      of(ends).slice(1, 0, kWidth),
                      of(ends).slice(1, kWidth, 2 * kWidth),
                      graph.senders(is_device),
                      map(edge),
                      map(middle),
                      map(last),
                      of(norm)};
  };
  edge_update(bench.reference(), op(false, BenchGraph::kFirst));
  edge_update(bench.context(), op(true, kNodes));
  const auto n_edges = static_cast<double>(kNodes * kEdges), d = static_cast<double>(kWidth);
  const auto rows = [&](const Tensor& all) {
    return Tensor(all.data, DType::f32, {BenchGraph::kFirst * kEdges, kWidth});
  };
  bench.add("edge update", fmt::format("{} nodes, {} edges each, {}", kNodes, kEdges, kWidth),
            8 * n_edges * d, 6 * n_edges * d * d, bench.error(rows(edges.device), rows(edges.host)),
            [&] { edge_update(bench.context(), op(true, kNodes)); });
}

}  // namespace biogpu::ops
