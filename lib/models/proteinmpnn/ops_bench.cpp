// Operations of ProteinMPNN at the shapes of a protein of 500 residues.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/models/proteinmpnn/bench.hpp"
#include "lib/models/proteinmpnn/ops/block_linear.hpp"
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"
#include "lib/models/proteinmpnn/ops/edge_message.hpp"
#include "lib/models/proteinmpnn/ops/edge_update.hpp"
#include "lib/models/proteinmpnn/ops/nearest_rows.hpp"
#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using ops::BenchIndices;
using ops::BenchTensor;
using ops::OpBench;

// A graph as ProteinMPNN has it, for the benches of operations on its edges: nodes of 48 edges each
// and 128 channels. The first is what the reference computes.
class BenchGraph {
 public:
  static constexpr std::int64_t kNodes = 500, kEdges = 48, kWidth = 128;
  static constexpr std::int64_t kFirst = 4;  // nodes of the reference

  // Measured at the first shape alone: they do not depend on the shape.
  static bool suits(const OpBench& bench) { return bench.shape().d == 320; }
  explicit BenchGraph(OpBench& bench);

  // A map for a device and for the reference, which the bench's context owns.
  struct Map {
    Linear device, host;
  };
  Map map(std::int64_t n_out, std::int64_t n_in, BlockUse use, bool has_bias);
  struct Normalisation {
    Norm device, host;
  };
  Normalisation norm();
  // Numbers of a kind whose host side stays as long as the graph.
  const BenchTensor& make(std::initializer_list<std::int64_t> shape, float size);

  Tensor senders(bool is_device) const;  // i32 [kNodes, kEdges]
  Tensor counts(bool is_device) const;   // i32 [kNodes]
  Tensor present(bool is_device) const;  // u8 [kNodes]

 private:
  OpBench& bench_;
  std::vector<std::unique_ptr<BenchTensor>> tensors_;
  BenchIndices senders_, counts_, present_;
};

BenchGraph::BenchGraph(OpBench& bench)
    : bench_(bench),
      senders_(bench.make_indices(kNodes * kEdges, kNodes)),
      counts_(bench.make_indices(kNodes, 1)),
      present_(bench.make_indices(kNodes, 1)) {
  std::fill(counts_.values.begin(), counts_.values.end(), static_cast<std::int32_t>(kEdges));
  std::fill(present_.values.begin(), present_.values.end(), 0x01010101);
  bench.context().copy_in(counts_.device, counts_.values.data());
  bench.context().copy_in(present_.device, present_.values.data());
}

const BenchTensor& BenchGraph::make(std::initializer_list<std::int64_t> shape, float size) {
  tensors_.push_back(std::make_unique<BenchTensor>(bench_.make(shape, size, false)));
  return *tensors_.back();
}

BenchGraph::Map BenchGraph::map(std::int64_t n_out, std::int64_t n_in, BlockUse use,
                                bool has_bias) {
  const Tensor weight = make({n_out, n_in}, 2 / std::sqrt(static_cast<float>(n_in))).host;
  const Tensor bias = has_bias ? make({n_out}, 0.5f).host : Tensor();
  return {upload_block_linear(bench_.context(), weight, bias, use),
          upload_block_linear(bench_.reference(), weight, bias, use)};
}

BenchGraph::Normalisation BenchGraph::norm() {
  const BenchTensor &weight = make({kWidth}, 1), &bias = make({kWidth}, 1);
  return {{weight.device, bias.device}, {weight.host, bias.host}};
}

Tensor BenchGraph::senders(bool is_device) const {
  return {(is_device ? senders_.device : senders_.host).data, DType::i32, {kNodes, kEdges}};
}
Tensor BenchGraph::counts(bool is_device) const {
  return is_device ? counts_.device : counts_.host;
}
Tensor BenchGraph::present(bool is_device) const {
  return {(is_device ? present_.device : present_.host).data, DType::u8, {kNodes}};
}

}  // namespace

void edge_embed_bench(OpBench& bench) {
  if (!bench.wanted("edge embed") || !BenchGraph::suits(bench)) return;
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

void edge_message_bench(OpBench& bench) {
  if (!bench.wanted("edge message") || !BenchGraph::suits(bench)) return;
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

void edge_update_bench(OpBench& bench) {
  if (!bench.wanted("edge update") || !BenchGraph::suits(bench)) return;
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

}  // namespace biogpu::models::proteinmpnn
