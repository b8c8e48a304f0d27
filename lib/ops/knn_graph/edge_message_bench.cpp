#include "lib/ops/knn_graph/edge_message.hpp"

#include <fmt/format.h>

#include "lib/ops/knn_graph/bench_graph.hpp"

namespace biogpu::ops {

void edge_message_bench(OpBench& bench) {
  if (!bench.wanted("edge message") || !BenchGraph::suits(bench)) return;
  using tensor::BlockUse;
  constexpr std::int64_t kNodes = BenchGraph::kNodes, kEdges = BenchGraph::kEdges,
                         kWidth = BenchGraph::kWidth;
  BenchGraph graph(bench);
  const BenchTensor& edges = graph.make({kNodes, kEdges, kWidth}, 1);
  const BenchTensor &ends = graph.make({kNodes, 2 * kWidth}, 1),
                    &h = graph.make({kNodes, kWidth}, 1);
  const BenchTensor &out = graph.make({kNodes, kWidth}, 1),
                    &next = graph.make({kNodes, 2 * kWidth}, 1);
  const auto edge = graph.map(kWidth, kWidth, BlockUse::edges, false);
  const auto middle = graph.map(kWidth, kWidth, BlockUse::edges, true);
  const auto last = graph.map(kWidth, kWidth, BlockUse::node, true);
  const auto in = graph.map(4 * kWidth, kWidth, BlockUse::node, true);
  const auto feed = graph.map(kWidth, 4 * kWidth, BlockUse::node, true);
  const auto hand_on = graph.map(2 * kWidth, kWidth, BlockUse::node, true);
  const auto before = graph.norm(), after = graph.norm();
  const auto op = [&](bool is_device, std::int64_t n) {
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    const auto map = [&](const BenchGraph::Map& both) {
      return is_device ? &both.device : &both.host;
    };
    EdgeMessage message;
    message.edges = of(edges);
    message.edge = map(edge);
    message.counts = graph.counts(is_device);
    message.receiver = of(ends).slice(1, 0, kWidth);
    message.sender = of(ends).slice(1, kWidth, 2 * kWidth);
    message.senders = graph.senders(is_device);
    message.present = graph.present(is_device);
    message.only_present = true;
    message.middle = map(middle);
    message.update = {map(last), map(in), map(feed), of(before), of(after)};
    message.h = of(h);
    message.out = of(out).slice(0, 0, n);
    message.next[0] = {map(hand_on), {}, {}, of(next)};
    return message;
  };
  edge_message(bench.reference(), op(false, BenchGraph::kFirst));
  edge_message(bench.context(), op(true, kNodes));
  const auto n = static_cast<double>(kNodes), d2 = static_cast<double>(kWidth * kWidth);
  const double edge_numbers = n * static_cast<double>(kEdges * kWidth);
  bench.add("edge message", fmt::format("{} nodes, {} edges each, {}", kNodes, kEdges, kWidth),
            4 * edge_numbers, n * d2 * (4 * static_cast<double>(kEdges) + 22),
            bench.error(out.device, out.host_rows(BenchGraph::kFirst)),
            [&] { edge_message(bench.context(), op(true, kNodes)); });
}

}  // namespace biogpu::ops
