// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/cartesian_tensor/eigen3.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"
#include "lib/ops/cartesian_tensor/tensor_product.hpp"
#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"
#include "lib/ops/neighbours/bench_edges.hpp"

namespace biogpu::ops {

void tensor_norm_bench(OpBench& bench) {
  if (!bench.wanted("tensor norm") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor x = bench.make({9, t, d}, 1, false);
  const BenchTensor out = bench.make({t, 3, d}, 1, false);
  const TensorNorm op{x.device, out.device};
  tensor_norm(bench.context(), op);
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {t, 3, d});
  tensor_norm(bench.reference(), {x.host, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor norm", fmt::format("{} x {}", t, d), 48 * numbers, 20 * numbers,
            bench.error(as_rows(out.device), as_rows(expected)),
            [&] { tensor_norm(bench.context(), op); });
}

void tensor_norm_grad_bench(OpBench& bench) {
  if (!bench.wanted("tensor norm gradient") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor x = bench.make({9, t, d}, 1, false);
  const BenchTensor d_out = bench.make({t, 3, d}, 1, false);
  const BenchTensor d_x = bench.make({9, t, d}, 1, false);
  const TensorNormGrad op{x.device, d_out.device, d_x.device};
  tensor_norm_grad(bench.context(), op);
  std::vector<float> memory(d_x.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_norm_grad(bench.reference(), {x.host, d_out.host, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor norm gradient", fmt::format("{} x {}", t, d), 84 * numbers, 20 * numbers,
            bench.error(as_rows(d_x.device), as_rows(expected)),
            [&] { tensor_norm_grad(bench.context(), op); });
}

void tensor_product_bench(OpBench& bench) {
  if (!bench.wanted("tensor product") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor y = bench.make({9, t, d}, 1, false);
  const BenchTensor m = bench.make({9, t, d}, 1, false);
  const BenchTensor out = bench.make({9, t, d}, 1, false);
  const TensorProduct op{y.device, m.device, {}, false, out.device};
  tensor_product(bench.context(), op);
  std::vector<float> memory(out.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_product(bench.reference(), {y.host, m.host, {}, false, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor product", fmt::format("{} x {}", t, d), 108 * numbers, 150 * numbers,
            bench.error(as_rows(out.device), as_rows(expected)),
            [&] { tensor_product(bench.context(), op); });
}

void tensor_product_grad_bench(OpBench& bench) {
  if (!bench.wanted("tensor product gradient") || !BenchEdges::suits(bench)) return;
  const std::int64_t t = bench.shape().n_rows(), d = BenchEdges::kChannels;
  const BenchTensor y = bench.make({9, t, d}, 1, false);
  const BenchTensor m = bench.make({9, t, d}, 1, false);
  const BenchTensor d_out = bench.make({9, t, d}, 1, false);
  const BenchTensor d_y = bench.make({9, t, d}, 1, false);
  const BenchTensor d_m = bench.make({9, t, d}, 1, false);
  const TensorProductGrad op{y.device, m.device, {}, false, d_out.device, d_y.device, d_m.device};
  tensor_product_grad(bench.context(), op);
  std::vector<float> unused_memory(d_y.values.size());
  const Tensor unused(unused_memory.data(), DType::f32, {9, t, d});
  std::vector<float> memory(d_m.values.size());
  const Tensor expected(memory.data(), DType::f32, {9, t, d});
  tensor_product_grad(bench.reference(), {y.host, m.host, {}, false, d_out.host, unused, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("tensor product gradient", fmt::format("{} x {}", t, d), 180 * numbers, 400 * numbers,
            bench.error(as_rows(d_m.device), as_rows(expected)),
            [&] { tensor_product_grad(bench.context(), op); });
}

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
