#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/elementwise/sigmoid_gate.hpp"

namespace biogpu::ops {

void sigmoid_gate_bench(OpBench& bench) {
  if (!bench.wanted("sigmoid gate")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), gate = bench.make({t, d}, 3, false),
                    out = bench.make({t, d}, 1, false);
  const SigmoidGate op{x.device, gate.device, out.device};
  sigmoid_gate(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  sigmoid_gate(bench.reference(), {x.host_rows(n), gate.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("sigmoid gate", fmt::format("{} x {}", t, d), 12 * numbers, 4 * numbers,
            bench.error(out.device, expected), [&] { sigmoid_gate(bench.context(), op); });
}

void sigmoid_gate_grad_bench(OpBench& bench) {
  if (!bench.wanted("sigmoid gate gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), gate = bench.make({t, d}, 3, false),
                    d_out = bench.make({t, d}, 1, false), d_x = bench.make({t, d}, 1, false),
                    d_gate = bench.make({t, d}, 1, false);
  const SigmoidGateGrad op{x.device, gate.device, d_out.device, d_x.device, d_gate.device};
  sigmoid_gate_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(2 * n * d));
  const Tensor rows(memory.data(), DType::f32, {2 * n, d});
  const Tensor its_x = rows.slice(0, 0, n), its_gate = rows.slice(0, n, 2 * n);
  sigmoid_gate_grad(bench.reference(),
                    {x.host_rows(n), gate.host_rows(n), d_out.host_rows(n), its_x, its_gate});
  const auto numbers = static_cast<double>(t * d);
  bench.add("sigmoid gate gradient", fmt::format("{} x {}", t, d), 20 * numbers, 7 * numbers,
            std::max(bench.error(d_x.device, its_x), bench.error(d_gate.device, its_gate)),
            [&] { sigmoid_gate_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
