#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/reduction/range_sum.hpp"

namespace biogpu::ops {
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

}  // namespace biogpu::ops
