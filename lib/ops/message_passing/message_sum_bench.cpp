#include "lib/ops/message_passing/message_sum.hpp"

#include <fmt/format.h>

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

}  // namespace biogpu::ops
