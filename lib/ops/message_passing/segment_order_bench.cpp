#include "lib/ops/message_passing/segment_order.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

void segment_order_bench(OpBench& bench) {
  if (!bench.wanted("segment order")) return;
  const std::int64_t t = bench.shape().n_rows(), n_segments = t / 8 + 1;
  const BenchIndices targets = bench.make_indices(t, n_segments);
  const BenchIndices order = bench.make_indices(t, n_segments);
  const BenchIndices starts = bench.make_indices(n_segments + 1, n_segments);
  const SegmentOrder op{targets.device, starts.device, order.device};
  segment_order(bench.context(), op);
  std::vector<std::int32_t> right(static_cast<std::size_t>(t)), got(right.size());
  std::vector<std::int32_t> begins(static_cast<std::size_t>(n_segments + 1));
  segment_order(bench.reference(), {targets.host,
                                    {begins.data(), DType::i32, {n_segments + 1}},
                                    {right.data(), DType::i32, {t}}});
  bench.context().copy_out(got.data(), order.device);
  bench.context().synchronize();
  bench.add("segment order", fmt::format("{} to {}", t, n_segments), 12.0 * static_cast<double>(t),
            0, got == right ? 0 : 1, [&] { segment_order(bench.context(), op); });
}

}  // namespace biogpu::ops
