#include <algorithm>

#include "lib/ops/message_passing/segment_sum.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

template <class In, class Out>
void sum_segments(const SegmentSum& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const order = op.order.as<std::int32_t>();
  for (std::int64_t r = 0; r < op.out.shape[0]; ++r)
    for (std::int64_t c = 0; c < op.out.shape[1]; ++c) {
      double sum = 0;
      for (std::int64_t e = starts[r]; e < starts[r + 1]; ++e)
        sum += static_cast<double>(op.x.row<In>(order != nullptr ? order[e] : e)[c]);
      const double parts = op.mean ? std::max(1, starts[r + 1] - starts[r]) : 1;
      op.out.row<Out>(r)[c] = static_cast<Out>(sum / parts);
    }
}

}  // namespace

void segment_sum_ref(const SegmentSum& op) {
  reference::with_real(op.x, [&](auto in) {
    reference::with_real(op.out, [&](auto out) { sum_segments<decltype(in), decltype(out)>(op); });
  });
}

}  // namespace biogpu::ops
