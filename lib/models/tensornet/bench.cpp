#include "lib/models/tensornet/bench.hpp"

#include <fmt/format.h>

#include "lib/models/tensornet/ops/edge_ops.hpp"
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
    if (i / n % 4 > 0) table.values[i] /= static_cast<float>(kIntervals);
  bench.context().copy_in(table.device, table.values.data());
  return table;
}

constexpr const char* kTable = "radial table";
constexpr const char* kMessages = "radial table + message sum of tensors";

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

}  // namespace biogpu::models::tensornet
