#include "lib/ops/knn_graph/edge_embed.hpp"

#include <fmt/format.h>

#include "lib/ops/knn_graph/bench_graph.hpp"

namespace biogpu::ops {

void edge_embed_bench(OpBench& bench) {
  if (!bench.wanted("edge embed") || !BenchGraph::suits(bench)) return;
  using tensor::BlockUse;
  constexpr std::int64_t kNodes = BenchGraph::kNodes, kEdges = BenchGraph::kEdges,
                         kWidth = BenchGraph::kWidth, kPairs = EdgeEmbed::kMaxPairs;
  BenchGraph graph(bench);
  const BenchTensor& points = graph.make({kNodes, 5, 3}, 25);
  const BenchTensor& distances = graph.make({kNodes, kEdges}, 10);
  const BenchTensor& positions = graph.make({EdgeEmbed::kClasses, kWidth}, 1);
  const BenchTensor& out = graph.make({kNodes, kEdges, kWidth}, 1);
  const BenchIndices numbers = bench.make_indices(kNodes, kNodes);
  const BenchIndices chains = bench.make_indices(kNodes, 2);
  const auto features = graph.map(kWidth, EdgeEmbed::kBasis * kPairs, BlockUse::edges, false);
  const auto linear = graph.map(kWidth, kWidth, BlockUse::edges, true);
  const auto norm = graph.norm();
  std::uint8_t pairs[kPairs][2];
  for (std::uint8_t p = 0; p < kPairs; ++p) {
    pairs[p][0] = p / 5;
    pairs[p][1] = p % 5;
  }
  const auto op = [&](bool is_device, std::int64_t n) {
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    EdgeEmbed embed;
    embed.points = of(points).slice(0, 0, n);
    embed.numbers = of(numbers);
    embed.chains = of(chains);
    embed.rows = graph.senders(is_device);
    embed.distances = of(distances);
    embed.counts = graph.counts(is_device);
    embed.pairs = pairs;
    embed.n_pairs = kPairs;
    embed.features = is_device ? &features.device : &features.host;
    embed.positions = of(positions);
    embed.norm = of(norm);
    embed.linear = is_device ? &linear.device : &linear.host;
    embed.out = of(out);
    return embed;
  };
  edge_embed(bench.reference(), op(false, BenchGraph::kFirst));
  edge_embed(bench.context(), op(true, kNodes));
  const auto n_edges = static_cast<double>(kNodes * kEdges), d = static_cast<double>(kWidth);
  const auto rows = [&](const Tensor& all) {
    return Tensor(all.data, DType::f32, {BenchGraph::kFirst * kEdges, kWidth});
  };
  bench.add("edge embed", fmt::format("{} nodes, {} edges each, {}", kNodes, kEdges, kWidth),
            4 * n_edges * d, 2 * n_edges * d * (EdgeEmbed::kBasis * kPairs + d),
            bench.error(rows(out.device), rows(out.host)),
            [&] { edge_embed(bench.context(), op(true, kNodes)); });
}

}  // namespace biogpu::ops
