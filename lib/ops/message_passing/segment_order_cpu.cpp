#include <algorithm>
#include <numeric>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/message_passing/segment_order.hpp"

namespace biogpu::ops {

// A stable counting sort, by one thread: rows are counted, then each goes to the next place of its
// segment.
void segment_order_cpu(CpuContext&, const SegmentOrder& op) {
  auto* const starts = op.starts.as<std::int32_t>();
  auto* const order = op.order.as<std::int32_t>();
  const auto* const targets = op.targets.as<std::int32_t>();
  const std::int64_t n_segments = op.starts.shape[0] - 1, n = op.targets.size();
  std::fill_n(starts, n_segments + 1, 0);
  for (std::int64_t e = 0; e < n; ++e) ++starts[targets[e] + 1];
  std::partial_sum(starts, starts + n_segments + 1, starts);
  std::vector<std::int32_t> next(starts, starts + n_segments);
  for (std::int64_t e = 0; e < n; ++e)
    order[next[static_cast<std::size_t>(targets[e])]++] = static_cast<std::int32_t>(e);
}

}  // namespace biogpu::ops
