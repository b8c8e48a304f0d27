#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/elementwise/fill_zero.hpp"

namespace biogpu::ops {

void fill_zero_bench(OpBench& bench) {
  if (!bench.wanted("fill zero")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const BenchTensor x = bench.make({t, d}, 1, false);
  const auto numbers = static_cast<double>(t * d);
  fill_zero(bench.context(), {x.device});
  // Zeros have no root mean square that an error could be relative to: a sum with 1 has.
  std::vector<float> first(static_cast<std::size_t>(d));
  bench.context().copy_out(first.data(), x.device.slice(0, t - 1, t));
  bench.context().synchronize();
  double its_error = 0;
  for (const float value : first) its_error += value == 0 ? 0 : 1;
  bench.add("fill zero", fmt::format("{} x {}", t, d), 4 * numbers, 0, its_error,
            [&] { fill_zero(bench.context(), {x.device}); });
}

}  // namespace biogpu::ops
