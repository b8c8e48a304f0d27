// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/gather/append_rows.hpp"
#include "lib/ops/gather/embed.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::ops {

// One row for each segment's last place.
void append_rows_bench(OpBench& bench) {
  if (!bench.wanted("append rows")) return;
  const BenchShape& shape = bench.shape();
  const BenchTensor x = bench.make({shape.n_segments, shape.d}, 1, true),
                    out = bench.make({shape.n_rows(), shape.d}, 1, true);
  BenchIndices counts = bench.make_indices(shape.n_segments, 1);
  counts.values.assign(counts.values.size(), static_cast<std::int32_t>(shape.length - 1));
  bench.context().copy_in(counts.device, counts.values.data());
  const AppendRows op{x.device, bench.segments().device_starts, counts.device, out.device};
  append_rows(bench.context(), op);
  bench.add("append rows", fmt::format("{} x {}", shape.n_segments, shape.d),
            2 * bench.operand_bytes() * static_cast<double>(shape.n_segments * shape.d), 0,
            bench.error(out.device.slice(0, shape.length - 1, shape.length), x.host_rows(1)),
            [&] { append_rows(bench.context(), op); });
}

void embed_bench(OpBench& bench) {
  if (!bench.wanted("embed + norm")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const auto numbers = static_cast<double>(t * d);
  const BenchTensor table = bench.make({OpBench::kTokens, d}, 1, false);
  const BenchTensor weight = bench.make({d}, 1, false), bias = bench.make({d}, 1, false);
  const BenchTensor scale = bench.make({t}, 1, false);
  const BenchIndices ids = bench.make_indices(t, OpBench::kTokens);
  const BenchTensor sum = bench.make({t, d}, 1, false), out = bench.make({t, d}, 1, true);
  const Embed op{table.device, ids.device, scale.device,
                 {},           {},         {weight.device, bias.device, 1e-5f},
                 sum.device,   {},         out.device};
  embed(bench.context(), op);
  const std::int64_t n = OpBench::kRows;
  std::vector<float> memory(static_cast<std::size_t>(2 * n * d));
  const Tensor rows(memory.data(), DType::f32, {2 * n, d});
  const Tensor its_sum = rows.slice(0, 0, n), its_out = rows.slice(0, n, 2 * n);
  embed(bench.reference(), {table.host,
                            ids.host.slice(0, 0, n),
                            scale.host_rows(n),
                            {},
                            {},
                            {weight.host, bias.host, 1e-5f},
                            its_sum,
                            its_out,
                            {}});
  const double its_error =
      std::max(bench.error(sum.device, its_sum), bench.error(out.device, its_out));
  bench.add("embed + norm", fmt::format("{} x {}", t, d), (4.0 + bench.operand_bytes()) * numbers,
            8 * numbers, its_error, [&] { embed(bench.context(), op); });
}

void gather_rows_bench(OpBench& bench) {
  if (!bench.wanted("gather rows")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), out = bench.make({t, d}, 1, true);
  const BenchIndices rows = bench.make_indices(t, t);
  const GatherRows op{x.device, rows.device, out.device};
  gather_rows(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  gather_rows(bench.reference(), {x.host, rows.host.slice(0, 0, n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("gather rows", fmt::format("{} x {}", t, d), (4 + bench.operand_bytes()) * numbers, 0,
            bench.error(out.device, expected), [&] { gather_rows(bench.context(), op); });
}

void repeat_rows_bench(OpBench& bench) {
  if (!bench.wanted("repeat rows")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = t / 2;
  const BenchTensor x = bench.make({n, d}, 1, false), before = bench.make({t, d}, 1, false),
                    out = bench.make({t, d}, 1, false);
  const Ragged pooled = bench.shortened(2);
  const RepeatRows op{x.device, 2, &pooled, &bench.segments(), before.device, out.device, {}};
  repeat_rows(bench.context(), op);
  const Ragged rows = OpBench::one_segment(OpBench::kRows),
               few = OpBench::one_segment(OpBench::kRows / 2);
  std::vector<float> memory(static_cast<std::size_t>(OpBench::kRows * d));
  const Tensor expected(memory.data(), DType::f32, {OpBench::kRows, d});
  repeat_rows(
      bench.reference(),
      {x.host_rows(few.n_rows), 2, &few, &rows, before.host_rows(OpBench::kRows), expected, {}});
  const auto numbers = static_cast<double>(t * d);
  bench.add("repeat rows", fmt::format("{} x {}", t, d), 10 * numbers, numbers,
            bench.error(out.device, expected), [&] { repeat_rows(bench.context(), op); });
  bench.context().synchronize();
}

// Heads before rows, and a pair matrix of 128 channels with its channels first.
void permute_bench(OpBench& bench) {
  const auto order = [&](const char* name, std::int64_t n, std::int64_t m, std::int64_t d,
                         std::initializer_list<int> axes) {
    if (!bench.wanted(name)) return;
    const BenchTensor x = bench.make({n, m, d}, 1, true);
    const Tensor from = tensor::permuted(x.device, axes);
    const BenchTensor out = bench.make({from.shape[0], from.shape[1], from.shape[2]}, 1, true);
    const Permute op{from, out.device};
    permute(bench.context(), op);
    std::vector<float> memory(static_cast<std::size_t>(from.size()));
    const Tensor expected(memory.data(), DType::f32,
                          {from.shape[0], from.shape[1] * from.shape[2]});
    const Tensor as_one = tensor::split_axis(expected, 1, from.shape[2]);
    permute(bench.reference(), {tensor::permuted(x.host, axes), as_one});
    bench.add(name, fmt::format("{} x {} x {}", n, m, d),
              2 * bench.operand_bytes() * static_cast<double>(from.size()), 0,
              bench.error(tensor::merge_axes(out.device, 1), expected),
              [&] { permute(bench.context(), op); });
  };
  const BenchShape& shape = bench.shape();
  order("permute heads", shape.n_rows(), shape.n_heads, shape.d / shape.n_heads, {1, 0, 2});
  if (shape.n_segments > 1 || shape.stream_of_operands) return;  // a fixed shape, once
  order("permute channels first", 256, 256, 128, {2, 0, 1});
}

}  // namespace biogpu::ops
