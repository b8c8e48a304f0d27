#include "lib/ops/reduction/attention_pool.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void attention_pool_bench(OpBench& bench) {
  if (!bench.wanted("attention pool")) return;
  constexpr std::int64_t kReferenceRows = 2;
  const BenchShape& shape = bench.shape();
  const std::int64_t d = shape.d, t = shape.n_rows(), n = t / 2;  // lengths are even
  const BenchTensor x = bench.make({t, d}, 1, false), weight = bench.make({d, d}, 0.05f, true);
  const BenchTensor differences = bench.make({n, d}, 1, true), out = bench.make({n, d}, 1, false);
  const Linear linear = bench.context().upload_linear(weight.host, {});
  const Linear host = bench.reference().upload_linear(weight.host, {});
  const Ragged pooled = bench.shortened(2);
  const AttentionPool op{x.device,   &linear, &bench.segments(), &pooled, differences.device,
                         out.device, {}};
  attention_pool(bench.context(), op);
  const Ragged rows = OpBench::one_segment(2 * kReferenceRows),
               pairs = OpBench::one_segment(kReferenceRows);
  std::vector<float> memory(static_cast<std::size_t>(kReferenceRows * d));
  const Tensor expected(memory.data(), DType::f32, {kReferenceRows, d});
  attention_pool(bench.reference(),
                 {x.host_rows(2 * kReferenceRows), &host, &rows, &pairs, {}, expected, {}});
  const auto numbers = static_cast<double>(n * d), width = static_cast<double>(d);
  bench.add("attention pool", fmt::format("{} x {}", t, d),
            (16 + 2 * bench.operand_bytes() + 4) * numbers, 2 * numbers * width,
            bench.error(out.device, expected), [&] { attention_pool(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace biogpu::ops
