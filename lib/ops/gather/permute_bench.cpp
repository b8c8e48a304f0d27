#include "lib/ops/gather/permute.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::ops {

// Heads before rows, and a pair matrix of 128 channels with its channels first.
void permute_bench(OpBench& bench) {
  const auto order = [&](const char* name, std::int64_t n, std::int64_t m, std::int64_t d,
                         std::initializer_list<int> axes) {
    if (!bench.wanted(name)) return;
    const BenchTensor x = bench.make({n, m, d}, 1, true);
    const Tensor from = tensor::permuted(x.device, axes);
    const BenchTensor out = bench.make({from.shape[0], from.shape[1], from.shape[2]}, 1, true);
    const Permute op{from, out.device};
    permute(bench.context(), op);
    std::vector<float> memory(static_cast<std::size_t>(from.size()));
    const Tensor expected(memory.data(), DType::f32,
                          {from.shape[0], from.shape[1] * from.shape[2]});
    const Tensor as_one = tensor::split_axis(expected, 1, from.shape[2]);
    permute(bench.reference(), {tensor::permuted(x.host, axes), as_one});
    bench.add(name, fmt::format("{} x {} x {}", n, m, d),
              2 * bench.operand_bytes() * static_cast<double>(from.size()), 0,
              bench.error(tensor::merge_axes(out.device, 1), expected),
              [&] { permute(bench.context(), op); });
  };
  const BenchShape& shape = bench.shape();
  order("permute heads", shape.n_rows(), shape.n_heads, shape.d / shape.n_heads, {1, 0, 2});
  order("permute channels first", 256, 256, 128, {2, 0, 1});
}

}  // namespace biogpu::ops
