#include "lib/ops/cpu/copy_row.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/gather/append_rows.hpp"

namespace biogpu::ops {

void append_rows_cpu(CpuContext& context, const AppendRows& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const counts = op.counts.as<std::int32_t>();
  context.for_rows(op.x.shape[0], [&](std::int64_t s, std::int64_t end) {
    for (; s < end; ++s) {
      const std::int32_t room = starts[s + 1] - starts[s];
      if (counts[s] < room) copy_row(op.x, s, op.out, std::int64_t{starts[s]} + counts[s]);
    }
  });
}

}  // namespace biogpu::ops
