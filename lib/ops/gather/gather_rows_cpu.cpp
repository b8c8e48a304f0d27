#include "lib/ops/cpu/copy_row.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::ops {

void gather_rows_cpu(CpuContext& context, const GatherRows& op) {
  const auto* const rows = op.rows.as<std::int32_t>();
  context.for_rows(op.out.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) {
      const std::int64_t source = rows != nullptr ? rows[r] : r;
      if (source < 0)
        clear_row(op.out, r);
      else if (op.more.empty() || source < op.x.shape[0])
        copy_row(op.x, source, op.out, r);
      else
        copy_row(op.more, source - op.x.shape[0], op.out, r);
    }
  });
}

}  // namespace biogpu::ops
