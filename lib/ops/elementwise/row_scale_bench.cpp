#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/elementwise/row_scale.hpp"

namespace biogpu::ops {

void row_scale_bench(OpBench& bench) {
  if (!bench.wanted("row scale")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), scale = bench.make({t}, 1, false),
                    out = bench.make({t, d}, 1, false);
  const RowScale op{x.device, scale.device, out.device};
  row_scale(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  row_scale(bench.reference(), {x.host_rows(n), scale.host, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("row scale", fmt::format("{} x {}", t, d), 8 * numbers, numbers,
            bench.error(out.device, expected), [&] { row_scale(bench.context(), op); });
}

void row_scale_grad_bench(OpBench& bench) {
  if (!bench.wanted("row scale gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), scale = bench.make({t}, 1, false),
                    d_out = bench.make({t, d}, 1, false), d_x = bench.make({t, d}, 1, false),
                    d_scale = bench.make({t}, 1, false);
  const RowScaleGrad op{x.device, scale.device, d_out.device, d_x.device, d_scale.device};
  row_scale_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d)), sums(static_cast<std::size_t>(n));
  const Tensor its_x(memory.data(), DType::f32, {n, d}), its_scale(sums.data(), DType::f32, {n});
  row_scale_grad(bench.reference(),
                 {x.host_rows(n), scale.host, d_out.host_rows(n), its_x, its_scale});
  const auto numbers = static_cast<double>(t * d);
  bench.add("row scale gradient", fmt::format("{} x {}", t, d), 12 * numbers, 3 * numbers,
            std::max(bench.error(d_x.device, its_x), bench.error(d_scale.device, its_scale)),
            [&] { row_scale_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
