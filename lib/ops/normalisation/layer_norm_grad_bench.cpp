#include "lib/ops/normalisation/layer_norm_grad.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void layer_norm_grad_bench(OpBench& bench) {
  if (!bench.wanted("norm gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), weight = bench.make({d}, 1, false),
                    d_out = bench.make({t, d}, 1, false), d_x = bench.make({t, d}, 1, false);
  const LayerNormGrad op{x.device, {weight.device, {}}, d_out.device, d_x.device};
  layer_norm_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  layer_norm_grad(bench.reference(),
                  {x.host_rows(n), {weight.host, {}}, d_out.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("norm gradient", fmt::format("{} x {}", t, d), 12 * numbers, 14 * numbers,
            bench.error(d_x.device, expected), [&] { layer_norm_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
