#include "lib/ops/reduction/argmax.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

// The greatest number of each row. What is compared is that number: rows may have it twice.
void argmax_bench(OpBench& bench) {
  if (!bench.wanted("argmax")) return;
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kTokens;
  const BenchTensor x = bench.make({t, n}, 1, false), value = bench.make({t, 1}, 1, false);
  const BenchIndices out = bench.make_indices(t, n);
  const Argmax op{x.device, {}, {}, out.device, value.device};
  argmax(bench.context(), op);
  std::vector<float> memory(OpBench::kRows);
  std::vector<std::int32_t> columns(OpBench::kRows);
  const Tensor expected(memory.data(), DType::f32, {OpBench::kRows, 1});
  argmax(bench.reference(), {x.host_rows(OpBench::kRows),
                             {},
                             {},
                             Tensor(columns.data(), DType::i32, {OpBench::kRows}),
                             expected});
  bench.add("argmax", fmt::format("{} x {}", t, n), 4.0 * static_cast<double>(t * (n + 2)), 0,
            bench.error(value.device, expected), [&] { argmax(bench.context(), op); });
}

}  // namespace biogpu::ops
