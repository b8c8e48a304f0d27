#include "lib/ops/cartesian_tensor/eigen3.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

// What is compared are eigenvalues: vectors of equal ones are any.
void eigen3_bench(OpBench& bench) {
  if (!bench.wanted("eigen 3x3")) return;
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, 3, 3}, 1, false), values = bench.make({t, 3}, 1, false);
  const BenchTensor vectors = bench.make({t, 3, 3}, 1, false);
  const Eigen3 op{x.device, values.device, vectors.device};
  eigen3(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(3 * n));
  const Tensor expected(memory.data(), DType::f32, {n, 3});
  eigen3(bench.reference(), {x.host_rows(n), expected, {}});
  bench.add("eigen 3x3", fmt::format("{} x 3 x 3", t), 84.0 * static_cast<double>(t),
            600.0 * static_cast<double>(t), bench.error(values.device, expected),
            [&] { eigen3(bench.context(), op); });
}

}  // namespace biogpu::ops
