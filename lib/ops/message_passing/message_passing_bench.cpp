// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/message_passing/edge_product.hpp"
#include "lib/ops/message_passing/message_sum.hpp"
#include "lib/ops/message_passing/message_sum_grad.hpp"
#include "lib/ops/message_passing/pair_add.hpp"
#include "lib/ops/message_passing/segment_order.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"
#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

namespace {

void bench_numbers(OpBench& bench, const BenchEdges& edges, const char* name,
                   std::int64_t n_numbers, std::int64_t n_parts) {
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const std::int64_t capacity = edges.device.capacity();
  const BenchTensor x = bench.make({n_numbers, t, d}, 1, false);
  const BenchTensor weights = bench.make({capacity, n_parts, d}, 1, false);
  const BenchTensor out = bench.make({n_numbers, t, d}, 1, false);
  const MessageSum op{x.device, weights.device, &edges.device, out.device};
  message_sum(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n_numbers * t * d));
  const Tensor expected(memory.data(), DType::f32, {n_numbers, t, d});
  message_sum(bench.reference(), {x.host, weights.host, &edges.host, expected});
  const Tensor flat(memory.data(), DType::f32, {n_numbers * t, d});
  const Tensor flat_out(out.device.data, DType::f32, {n_numbers * t, d});
  const auto per_edge = static_cast<double>(capacity * d);
  bench.add(
      name, fmt::format("{} atoms, {} edges x {}", t, capacity, d),
      4 * per_edge * static_cast<double>(n_parts) + 8 * static_cast<double>(t * n_numbers * d),
      2 * per_edge * static_cast<double>(n_numbers), bench.error(flat_out, flat),
      [&] { message_sum(bench.context(), op); });
}

}  // namespace

void message_sum_bench(OpBench& bench) {
  const bool plain = bench.wanted("message sum"), tensors = bench.wanted("message sum of tensors");
  if ((!plain && !tensors) || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  if (plain) bench_numbers(bench, edges, "message sum", 1, 1);
  if (tensors) bench_numbers(bench, edges, "message sum of tensors", 9, 3);
}

namespace {

void bench_gradient(OpBench& bench, const BenchEdges& edges, const char* name,
                    std::int64_t n_numbers, std::int64_t n_parts) {
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels,
                     capacity = edges.device.capacity();
  const BenchTensor x = bench.make({n_numbers, t, d}, 1, false);
  const BenchTensor weights = bench.make({capacity, n_parts, d}, 1, false);
  const BenchTensor d_out = bench.make({n_numbers, t, d}, 1, false);
  const BenchTensor d_weights = bench.make({capacity, n_parts, d}, 1, false);
  const BenchTensor d_x = bench.make({n_numbers, t, d}, 1, false);
  const MessageSumGrad op{x.device,     weights.device,   &edges.device,
                          d_out.device, d_weights.device, d_x.device};
  message_sum_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n_numbers * t * d));
  const Tensor expected(memory.data(), DType::f32, {n_numbers, t, d});
  std::vector<float> unused_memory(d_weights.values.size());
  const Tensor unused(unused_memory.data(), DType::f32, {capacity, n_parts, d});
  message_sum_grad(bench.reference(),
                   {x.host, weights.host, &edges.host, d_out.host, unused, expected});
  const Tensor flat(memory.data(), DType::f32, {n_numbers * t, d});
  const Tensor flat_d_x(d_x.device.data, DType::f32, {n_numbers * t, d});
  const auto per_edge = static_cast<double>(capacity * d);
  bench.add(
      name, fmt::format("{} atoms, {} edges x {}", t, capacity, d),
      8 * per_edge * static_cast<double>(n_parts) + 12 * static_cast<double>(t * n_numbers * d),
      4 * per_edge * static_cast<double>(n_numbers), bench.error(flat_d_x, flat),
      [&] { message_sum_grad(bench.context(), op); });
}

}  // namespace

void message_sum_grad_bench(OpBench& bench) {
  const bool plain = bench.wanted("message sum gradient"),
             tensors = bench.wanted("message sum gradient of tensors");
  if ((!plain && !tensors) || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  if (plain) bench_gradient(bench, edges, "message sum gradient", 1, 1);
  if (tensors) bench_gradient(bench, edges, "message sum gradient of tensors", 9, 3);
}

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

// A layer of DiffDock: 48 scalars and 10 vectors of each parity to as many.
void edge_product_bench(OpBench& bench) {
  if (!bench.wanted("edge product")) return;
  constexpr std::int64_t kNodes = 512, kEdges = 4096, kScalars = 48, kVectors = 10;
  constexpr std::int64_t kWidth = kScalars + 6 * kVectors;
  EdgePaths paths;
  paths.n_paths = 5;
  paths.n_outputs = 2;
  paths.paths[0] = {0, kScalars, 1, 0, 0};
  paths.paths[1] = {kScalars, kVectors, 3, 1, kScalars};
  paths.paths[2] = {0, kScalars, 1, 4, 0};
  paths.paths[3] = {kScalars, kVectors, 3, 7, kScalars};
  paths.paths[4] = {kScalars + 3 * kVectors, kVectors, 3, 16, kScalars + kVectors};
  constexpr std::int64_t kRows0 = kScalars + kVectors, kRows1 = kRows0 + kVectors;
  constexpr std::int64_t kWeights = kRows0 * kScalars + kRows1 * kVectors;
  paths.outputs[0] = {0, kScalars, 1, kRows0, 0, 0, 2};
  paths.outputs[1] = {kScalars, kVectors, 3, kRows1, kRows0 * kScalars, 2, 3};
  const BenchTensor x = bench.make({kNodes, kWidth}, 1, false),
                    turns = bench.make({kEdges, 25}, 1, false),
                    weights = bench.make({kEdges, kWeights}, 1, true),
                    out = bench.make({kEdges, kScalars + 3 * kVectors}, 1, false);
  const BenchIndices sources = bench.make_indices(kEdges, kNodes);
  const EdgeProduct op{x.device, sources.device, turns.device, weights.device, &paths, out.device};
  edge_product(bench.context(), op);
  constexpr std::int64_t n = OpBench::kRows;
  std::vector<float> memory(static_cast<std::size_t>(n * out.width()));
  const Tensor expected(memory.data(), DType::f32, {n, out.width()});
  edge_product(bench.reference(), {x.host, sources.host.slice(0, 0, n), turns.host_rows(n),
                                   weights.host_rows(n), &paths, expected});
  const auto of_weights = static_cast<double>(kEdges * kWeights);
  bench.add("edge product", fmt::format("{} edges, {} weights", kEdges, kWeights),
            of_weights * bench.operand_bytes(), 2 * of_weights, bench.error(out.device, expected),
            [&] { edge_product(bench.context(), op); });
}

void segment_sum_bench(OpBench& bench) {
  if (!bench.wanted("segment sum")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = bench.shape().n_segments;
  const BenchTensor x = bench.make({t, d}, 1, false), sums = bench.make({n, d}, 1, false);
  const SegmentSum op{x.device, bench.segments().device_starts, {}, sums.device};
  segment_sum(bench.context(), op);
  // The reference computes the first segment's.
  const Ragged first = OpBench::one_segment(bench.shape().length);
  std::vector<std::int32_t> starts = first.starts;
  std::vector<float> memory(static_cast<std::size_t>(d));
  const Tensor expected(memory.data(), DType::f32, {1, d});
  segment_sum(bench.reference(), {x.host, Tensor(starts.data(), DType::i32, {2}), {}, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("segment sum", fmt::format("{} x {}", t, d), 4 * numbers, numbers,
            bench.error(sums.device, expected), [&] { segment_sum(bench.context(), op); });
}

void segment_order_bench(OpBench& bench) {
  if (!bench.wanted("segment order")) return;
  const std::int64_t t = bench.shape().n_rows(), n_segments = t / 8 + 1;
  const BenchIndices targets = bench.make_indices(t, n_segments);
  const BenchIndices order = bench.make_indices(t, n_segments);
  const BenchIndices starts = bench.make_indices(n_segments + 1, n_segments);
  const SegmentOrder op{targets.device, starts.device, order.device};
  segment_order(bench.context(), op);
  std::vector<std::int32_t> right(static_cast<std::size_t>(t)), got(right.size());
  std::vector<std::int32_t> begins(static_cast<std::size_t>(n_segments + 1));
  segment_order(bench.reference(), {targets.host,
                                    {begins.data(), DType::i32, {n_segments + 1}},
                                    {right.data(), DType::i32, {t}}});
  bench.context().copy_out(got.data(), order.device);
  bench.context().synchronize();
  bench.add("segment order", fmt::format("{} to {}", t, n_segments), 12.0 * static_cast<double>(t),
            0, got == right ? 0 : 1, [&] { segment_order(bench.context(), op); });
}

}  // namespace biogpu::ops
