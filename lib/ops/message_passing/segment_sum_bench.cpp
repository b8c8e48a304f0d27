#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"

namespace biogpu::ops {

void segment_sum_bench(OpBench& bench) {
  if (!bench.wanted("segment sum")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = bench.shape().n_segments;
  const BenchTensor x = bench.make({t, d}, 1, false), sums = bench.make({n, d}, 1, false);
  const SegmentSum op{x.device, bench.segments().device_starts, {}, sums.device};
  segment_sum(bench.context(), op);
  // The reference computes the first segment's.
  const Ragged first = OpBench::one_segment(bench.shape().length);
  std::vector<std::int32_t> starts = first.starts;
  std::vector<float> memory(static_cast<std::size_t>(d));
  const Tensor expected(memory.data(), DType::f32, {1, d});
  segment_sum(bench.reference(), {x.host, Tensor(starts.data(), DType::i32, {2}), {}, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("segment sum", fmt::format("{} x {}", t, d), 4 * numbers, numbers,
            bench.error(sums.device, expected), [&] { segment_sum(bench.context(), op); });
}

}  // namespace biogpu::ops
