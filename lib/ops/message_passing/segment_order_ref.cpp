#include "lib/ops/message_passing/segment_order.hpp"

namespace biogpu::ops {

void segment_order_ref(const SegmentOrder& op) {
  const std::int64_t n_segments = op.starts.shape[0] - 1, n = op.targets.size();
  std::int32_t placed = 0;
  for (std::int64_t s = 0; s < n_segments; ++s) {
    op.starts.as<std::int32_t>()[s] = placed;
    for (std::int64_t e = 0; e < n; ++e)
      if (op.targets.as<std::int32_t>()[e] == s)
        op.order.as<std::int32_t>()[placed++] = static_cast<std::int32_t>(e);
  }
  op.starts.as<std::int32_t>()[n_segments] = placed;
}

}  // namespace biogpu::ops
