#include "lib/models/tensornet/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/radial_embed.hpp"
#include "lib/ops/message_passing/message_sum.hpp"
#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::BenchEdges;
using ops::BenchTensor;
using tensor::DType;

constexpr std::int64_t kIntervals = 2048;
// Polynomials that change as little within an interval as those of a model: places are rounded.
BenchTensor make_table(ops::OpBench& bench, std::int64_t n_functions) {
  BenchTensor table = bench.make({kIntervals, 4, n_functions}, 1, false);
  const auto n = static_cast<std::size_t>(n_functions);
  for (std::size_t i = 0; i < table.values.size(); ++i)
    table.values[i] /= std::pow(static_cast<float>(kIntervals), static_cast<float>(i / n % 4));
  bench.context().copy_in(table.device, table.values.data());
  return table;
}

constexpr const char* kTable = "radial table";
constexpr const char* kMessages = "radial table + message sum of tensors";
constexpr const char* kEmbed = "tensor embedding";
constexpr const char* kEmbedGrad = "tensor embedding gradient";

}  // namespace

void radial_table_bench(ops::OpBench& bench) {
  const bool alone = bench.wanted(kTable), with_messages = bench.wanted(kMessages);
  if ((!alone && !with_messages) || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels,
                     n = edges.device.capacity();
  const BenchTensor table = make_table(bench, 3 * d);
  const BenchTensor weights = bench.make({n, 3 * d}, 1, false);
  const RadialTable op{edges.device.distance, table.device, 0, BenchEdges::kCutoff, weights.device};
  radial_table(bench.context(), op);
  std::vector<float> memory(weights.values.size());
  const Tensor expected(memory.data(), DType::f32, {n, 3 * d});
  radial_table(bench.reference(),
               {edges.host.distance, table.host, 0, BenchEdges::kCutoff, expected});
  const auto numbers = static_cast<double>(n * d), atoms = static_cast<double>(9 * t * d);
  const std::string shape = fmt::format("{} atoms, {} edges x {}", t, n, d);
  if (alone)
    bench.add(kTable, shape, 12 * numbers, 18 * numbers, bench.error(weights.device, expected),
              [&] { radial_table(bench.context(), op); });
  if (!with_messages) return;
  const BenchTensor x = bench.make({9, t, d}, 1, false), out = bench.make({9, t, d}, 1, false);
  const auto parts = [&](const Tensor& rows) { return Tensor(rows.data, rows.dtype, {n, 3, d}); };
  const ops::MessageSum sum{x.device, parts(weights.device), &edges.device, out.device};
  ops::message_sum(bench.context(), sum);
  std::vector<float> sums(out.values.size());
  const Tensor all(sums.data(), DType::f32, {9, t, d});
  ops::message_sum(bench.reference(), {x.host, parts(expected), &edges.host, all});
  bench.add(kMessages, shape, 8 * atoms, 36 * numbers,
            bench.error(ops::as_rows(out.device), ops::as_rows(all)), [&] {
              radial_table(bench.context(), op);
              ops::message_sum(bench.context(), sum);
            });
}

void radial_embed_bench(ops::OpBench& bench) {
  const bool forward = bench.wanted(kEmbed), backward = bench.wanted(kEmbedGrad);
  if ((!forward && !backward) || !BenchEdges::suits(bench)) return;
  const BenchEdges edges(bench);
  constexpr std::int64_t kTypes = 8;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels,
                     n = edges.device.capacity();
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(t));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int32_t>(i % kTypes);
  const BenchTensor table = make_table(bench, 3 * d), receiver = bench.make({kTypes, d}, 1, false),
                    neighbour = bench.make({kTypes, d}, 1, false),
                    out = bench.make({9, t, d}, 1, false), space = bench.make({t}, 1, false);
  const Tensor types(space.device.data, DType::i32, {t}),
      host_types(numbers.data(), DType::i32, {t});
  bench.context().copy_in(types, numbers.data());
  const RadialEmbed op{&edges.device,   table.device,     0,     BenchEdges::kCutoff,
                       receiver.device, neighbour.device, types, out.device};
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  const RadialEmbed right{&edges.host,   table.host,     0,          BenchEdges::kCutoff,
                          receiver.host, neighbour.host, host_types, expected};
  // Memory: what is known of an edge, and the tensors. The table is read from caches.
  const double tensors = 36 * static_cast<double>(t * d), of_edges = 24 * static_cast<double>(n);
  const std::string shape = fmt::format("{} atoms, {} edges x {}", t, n, d);
  if (forward) {
    radial_embed(bench.context(), op);
    radial_embed(bench.reference(), right);
    bench.add(kEmbed, shape, of_edges + tensors, 40 * static_cast<double>(n * d),
              bench.error(ops::as_rows(out.device), ops::as_rows(expected)),
              [&] { radial_embed(bench.context(), op); });
  }
  if (!backward) return;
  const BenchTensor d_out = bench.make({9, t, d}, 1, false), d_r = bench.make({n, 3}, 1, false),
                    d_distance = bench.make({n}, 1, false);
  const RadialEmbedGrad grad{op, d_out.device, {}, d_distance.device, d_r.device};
  radial_embed_grad(bench.context(), grad);
  std::vector<float> along(d_distance.values.size()), across(d_r.values.size());
  const Tensor expected_along(along.data(), DType::f32, {n}),
      expected_across(across.data(), DType::f32, {n, 3});
  radial_embed_grad(bench.reference(), {right, d_out.host, {}, expected_along, expected_across});
  const auto error_of = [&](const BenchTensor& got, const Tensor& wanted, std::int64_t width) {
    const auto rows = [&](const Tensor& x) { return Tensor(x.data, x.dtype, {n, width}); };
    return bench.error(rows(got.device).slice(0, 0, edges.count()),
                       rows(wanted).slice(0, 0, edges.count()));
  };
  bench.add(kEmbedGrad, shape, of_edges + 16 * static_cast<double>(n) + tensors,
            68 * static_cast<double>(n * d),
            std::max(error_of(d_r, expected_across, 3), error_of(d_distance, expected_along, 1)),
            [&] { radial_embed_grad(bench.context(), grad); });
}

}  // namespace biogpu::models::tensornet
