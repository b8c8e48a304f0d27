#include "lib/ops/convolution/depthwise_conv1d.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void depthwise_conv1d_bench(OpBench& bench) {
  const char* const name = "depthwise conv1d of 3 taps";
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kTaps = 3;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const BenchTensor x = bench.make({t, d}, 1, true), weight = bench.make({kTaps, d}, 1, false),
                    out = bench.make({t, d}, 1, true);
  const DepthwiseConv1d op{x.device, weight.device, &bench.segments(), out.device, {}};
  depthwise_conv1d(bench.context(), op);
  // The reference has enough rows for whole windows of those that are compared.
  const Ragged rows = OpBench::one_segment(OpBench::kRows + kTaps);
  std::vector<float> memory(static_cast<std::size_t>(rows.n_rows * d));
  const Tensor expected(memory.data(), DType::f32, {rows.n_rows, d});
  depthwise_conv1d(bench.reference(), {x.host_rows(rows.n_rows), weight.host, &rows, expected, {}});
  const auto numbers = static_cast<double>(t * d);
  bench.add(name, fmt::format("{} x {}", t, d), 2 * bench.operand_bytes() * numbers,
            2 * kTaps * numbers, bench.error(out.device, expected.slice(0, 0, OpBench::kRows)),
            [&] { depthwise_conv1d(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace biogpu::ops
