// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/reduction/argmax.hpp"
#include "lib/ops/reduction/attention_pool.hpp"
#include "lib/ops/reduction/max_pool.hpp"
#include "lib/ops/reduction/mean_pool.hpp"
#include "lib/ops/reduction/range_sum.hpp"
#include "lib/ops/reduction/sample.hpp"

namespace biogpu::ops {

// The greatest number of each row. What is compared is that number: rows may have it twice.
void argmax_bench(OpBench& bench) {
  if (!bench.wanted("argmax")) return;
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kTokens;
  const BenchTensor x = bench.make({t, n}, 1, false), value = bench.make({t, 1}, 1, false);
  const BenchIndices out = bench.make_indices(t, n);
  const Argmax op{x.device, {}, {}, out.device, value.device};
  argmax(bench.context(), op);
  std::vector<float> memory(OpBench::kRows);
  std::vector<std::int32_t> columns(OpBench::kRows);
  const Tensor expected(memory.data(), DType::f32, {OpBench::kRows, 1});
  argmax(bench.reference(), {x.host_rows(OpBench::kRows),
                             {},
                             {},
                             Tensor(columns.data(), DType::i32, {OpBench::kRows}),
                             expected});
  bench.add("argmax", fmt::format("{} x {}", t, n), 4.0 * static_cast<double>(t * (n + 2)), 0,
            bench.error(value.device, expected), [&] { argmax(bench.context(), op); });
}

void attention_pool_bench(OpBench& bench) {
  if (!bench.wanted("attention pool")) return;
  constexpr std::int64_t kReferenceRows = 2;
  const BenchShape& shape = bench.shape();
  const std::int64_t d = shape.d, t = shape.n_rows(), n = t / 2;  // lengths are even
  const BenchTensor x = bench.make({t, d}, 1, false), weight = bench.make({d, d}, 0.05f, true);
  const BenchTensor differences = bench.make({n, d}, 1, true), out = bench.make({n, d}, 1, false);
  const Linear linear = bench.context().upload_linear(weight.host, {});
  const Linear host = bench.reference().upload_linear(weight.host, {});
  const Ragged pooled = bench.shortened(2);
  const AttentionPool op{x.device,   &linear, &bench.segments(), &pooled, differences.device,
                         out.device, {}};
  attention_pool(bench.context(), op);
  const Ragged rows = OpBench::one_segment(2 * kReferenceRows),
               pairs = OpBench::one_segment(kReferenceRows);
  std::vector<float> memory(static_cast<std::size_t>(kReferenceRows * d));
  const Tensor expected(memory.data(), DType::f32, {kReferenceRows, d});
  attention_pool(bench.reference(),
                 {x.host_rows(2 * kReferenceRows), &host, &rows, &pairs, {}, expected, {}});
  const auto numbers = static_cast<double>(n * d), width = static_cast<double>(d);
  bench.add("attention pool", fmt::format("{} x {}", t, d),
            (16 + 2 * bench.operand_bytes() + 4) * numbers, 2 * numbers * width,
            bench.error(out.device, expected), [&] { attention_pool(bench.context(), op); });
  bench.context().synchronize();
}

void max_pool_bench(OpBench& bench) {
  if (!bench.wanted("max pool")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = t / 2;
  const BenchTensor x = bench.make({t, d}, 1, false), out = bench.make({n, d}, 1, false);
  const Ragged pooled = bench.shortened(2);
  const MaxPool op{x.device, 2, &bench.segments(), &pooled, out.device, {}};
  max_pool(bench.context(), op);
  const Ragged rows = OpBench::one_segment(2 * OpBench::kRows),
               few = OpBench::one_segment(OpBench::kRows);
  std::vector<float> memory(static_cast<std::size_t>(OpBench::kRows * d));
  const Tensor expected(memory.data(), DType::f32, {OpBench::kRows, d});
  max_pool(bench.reference(), {x.host_rows(rows.n_rows), 2, &rows, &few, expected, {}});
  const auto numbers = static_cast<double>(n * d);
  bench.add("max pool", fmt::format("{} x {}", t, d), 12 * numbers, numbers,
            bench.error(out.device, expected), [&] { max_pool(bench.context(), op); });
  bench.context().synchronize();
}

void mean_pool_bench(OpBench& bench) {
  if (!bench.wanted("mean pool")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const BenchTensor x = bench.make({t, d}, 1, false);
  const BenchTensor means = bench.make({bench.shape().n_segments, d}, 1, false);
  const MeanPool op{x.device, &bench.segments(), 1, 1, means.device};
  mean_pool(bench.context(), op);
  // The reference computes the first segment's.
  const Ragged first = OpBench::one_segment(bench.shape().length);
  std::vector<float> memory(static_cast<std::size_t>(d));
  const Tensor expected(memory.data(), DType::f32, {1, d});
  mean_pool(bench.reference(), {x.host_rows(bench.shape().length), &first, 1, 1, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("mean pool", fmt::format("{} x {}", t, d), 4 * numbers, numbers,
            bench.error(means.device, expected), [&] { mean_pool(bench.context(), op); });
}

namespace {

// Doubles in memory for pairs of 32-bit numbers.
Tensor doubles_in(const Tensor& pairs, std::int64_t n, std::int64_t d) {
  return {pairs.data, DType::f64, {n, d}};
}

}  // namespace

// The middle half of each segment.
void range_sum_bench(OpBench& bench) {
  if (!bench.wanted("range sum")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = bench.shape().n_segments,
                     length = bench.shape().length;
  const BenchTensor x = bench.make({t, d}, 1, false), sums = bench.make({n, 2 * d}, 1, false),
                    factor_memory = bench.make({n, 2}, 1, false);
  BenchIndices ranges = bench.make_indices(2 * n, t);
  for (std::int64_t s = 0; s < n; ++s) {
    ranges.values[static_cast<std::size_t>(2 * s)] =
        static_cast<std::int32_t>(s * length + length / 4);
    ranges.values[static_cast<std::size_t>(2 * s + 1)] =
        static_cast<std::int32_t>(s * length + length - length / 4);
  }
  bench.context().copy_in(ranges.device, ranges.values.data());
  std::vector<double> factors(static_cast<std::size_t>(n), 2.0 / static_cast<double>(length));
  const Tensor device_factors(factor_memory.device.data, DType::f64, {n});
  bench.context().copy_in(device_factors, factors.data());
  const RangeSum op{x.device,
                    {ranges.device.data, DType::i32, {n, 2}},
                    device_factors,
                    {},
                    doubles_in(sums.device, n, d)};
  range_sum(bench.context(), op);
  // The reference computes the first range's, and every byte is compared.
  std::vector<double> expected(static_cast<std::size_t>(d)), got(expected.size());
  range_sum(bench.reference(), {x.host,
                                {ranges.values.data(), DType::i32, {1, 2}},
                                {factors.data(), DType::f64, {1}},
                                {},
                                {expected.data(), DType::f64, {1, d}}});
  bench.context().copy_out(reinterpret_cast<float*>(got.data()), sums.device.slice(0, 0, 1));
  bench.context().synchronize();
  const auto numbers = static_cast<double>(n * (length - length / 4 * 2) * d);
  bench.add("range sum", fmt::format("{} x {}", t, d), 4 * numbers + 8 * static_cast<double>(n * d),
            2 * numbers, got == expected ? 0.0 : INFINITY, [&] { range_sum(bench.context(), op); });
}

void sample_bench(OpBench& bench) {
  if (!bench.wanted("sample")) return;
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kTokens, rows = OpBench::kRows;
  const BenchTensor logits = bench.make({t, n}, 3, false);
  const BenchIndices out = bench.make_indices(t, n);
  Sample op;
  op.logits = logits.device;
  op.seed = 7;
  op.out = out.device;
  sample(bench.context(), op);
  std::vector<std::int32_t> right(static_cast<std::size_t>(rows)), got(static_cast<std::size_t>(t));
  Sample host = op;
  host.logits = logits.host_rows(rows);
  host.out = Tensor(right.data(), DType::i32, {rows});
  sample(bench.reference(), host);
  bench.context().copy_out(got.data(), out.device);
  bench.context().synchronize();
  got.resize(right.size());
  bench.add("sample", fmt::format("{} x {}", t, n), 4.0 * static_cast<double>(t * (n + 1)), 0,
            got == right ? 0 : 1, [&] { sample(bench.context(), op); });
}

}  // namespace biogpu::ops
