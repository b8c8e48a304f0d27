#include "lib/ops/message_passing/message_sum_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {
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

}  // namespace biogpu::ops
