#include "lib/ops/elementwise/silu_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void silu_grad_bench(OpBench& bench) {
  if (!bench.wanted("silu gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 3, false), d_out = bench.make({t, d}, 1, false);
  const BenchTensor d_x = bench.make({t, d}, 1, true);
  const SiluGrad op{x.device, d_out.device, d_x.device};
  silu_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  silu_grad(bench.reference(), {x.host_rows(n), d_out.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("silu gradient", fmt::format("{} x {}", t, d), (8 + bench.operand_bytes()) * numbers,
            8 * numbers, bench.error(d_x.device, expected),
            [&] { silu_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
