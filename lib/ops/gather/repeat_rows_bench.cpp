#include "lib/ops/gather/repeat_rows.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void repeat_rows_bench(OpBench& bench) {
  if (!bench.wanted("repeat rows")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = t / 2;
  const BenchTensor x = bench.make({n, d}, 1, false), before = bench.make({t, d}, 1, false),
                    out = bench.make({t, d}, 1, false);
  const Ragged pooled = bench.shortened(2);
  const RepeatRows op{x.device, 2, &pooled, &bench.segments(), before.device, out.device, {}};
  repeat_rows(bench.context(), op);
  const Ragged rows = OpBench::one_segment(OpBench::kRows),
               few = OpBench::one_segment(OpBench::kRows / 2);
  std::vector<float> memory(static_cast<std::size_t>(OpBench::kRows * d));
  const Tensor expected(memory.data(), DType::f32, {OpBench::kRows, d});
  repeat_rows(
      bench.reference(),
      {x.host_rows(few.n_rows), 2, &few, &rows, before.host_rows(OpBench::kRows), expected, {}});
  const auto numbers = static_cast<double>(t * d);
  bench.add("repeat rows", fmt::format("{} x {}", t, d), 10 * numbers, numbers,
            bench.error(out.device, expected), [&] { repeat_rows(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace biogpu::ops
