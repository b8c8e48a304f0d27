#include "lib/ops/neighbours/radial_basis_grad.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void radial_basis_grad_bench(OpBench& bench) {
  if (!bench.wanted("radial basis gradient") || !BenchEdges::suits(bench)) return;
  constexpr std::int64_t kFunctions = 32;
  const BenchEdges edges(bench);
  const std::int64_t n = edges.device.capacity(), n_edges = edges.count();
  const BenchTensor means = bench.make({kFunctions}, 1, false);
  BenchTensor betas = bench.make({kFunctions}, 20, false);
  for (float& beta : betas.values) beta = std::fabs(beta);  // of others the functions grow
  bench.context().copy_in(betas.device, betas.values.data());
  const BenchTensor d_out = bench.make({n, kFunctions}, 1, false);
  const BenchTensor d_distance = bench.make({n, 1}, 1, false);
  const RadialBasisGrad op{edges.device.distance, means.device, betas.device,     0,
                           BenchEdges::kCutoff,   d_out.device, d_distance.device};
  radial_basis_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n_edges));
  const Tensor expected(memory.data(), DType::f32, {n_edges, 1});
  radial_basis_grad(bench.reference(), {edges.host.distance, means.host, betas.host, 0,
                                        BenchEdges::kCutoff, d_out.host_rows(n_edges), expected});
  const auto numbers = static_cast<double>(n * kFunctions);
  bench.add("radial basis gradient", fmt::format("{} x {}", n, kFunctions), 4 * numbers,
            20 * numbers, bench.error(d_distance.device, expected),
            [&] { radial_basis_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
