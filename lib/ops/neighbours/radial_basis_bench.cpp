#include "lib/ops/neighbours/radial_basis.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void radial_basis_bench(OpBench& bench) {
  if (!bench.wanted("radial basis") || !BenchEdges::suits(bench)) return;
  constexpr std::int64_t kFunctions = 32;
  const BenchEdges edges(bench);
  const std::int64_t n = edges.device.capacity(), n_edges = edges.count();
  const BenchTensor means = bench.make({kFunctions}, 1, false);
  BenchTensor betas = bench.make({kFunctions}, 20, false);
  for (float& beta : betas.values) beta = std::fabs(beta);  // of others the functions grow
  bench.context().copy_in(betas.device, betas.values.data());
  const BenchTensor out = bench.make({n, kFunctions}, 1, false);
  const RadialBasis op{edges.device.distance, means.device, betas.device, 0,
                       BenchEdges::kCutoff,   out.device};
  radial_basis(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n_edges * kFunctions));
  const Tensor expected(memory.data(), DType::f32, {n_edges, kFunctions});
  radial_basis(bench.reference(),
               {edges.host.distance, means.host, betas.host, 0, BenchEdges::kCutoff, expected});
  const auto numbers = static_cast<double>(n * kFunctions);
  bench.add("radial basis", fmt::format("{} x {}", n, kFunctions), 4 * numbers, 20 * numbers,
            bench.error(out.device, expected), [&] { radial_basis(bench.context(), op); });
}

}  // namespace biogpu::ops
