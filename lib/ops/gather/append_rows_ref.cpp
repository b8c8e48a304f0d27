#include <algorithm>

#include "lib/ops/gather/append_rows.hpp"

namespace biogpu::ops {

void append_rows_ref(const AppendRows& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const counts = op.counts.as<std::int32_t>();
  for (std::int64_t s = 0; s < op.x.shape[0]; ++s) {
    const std::int64_t row = std::int64_t{starts[s]} + counts[s];
    if (row < starts[s + 1]) std::copy_n(op.x.row<float>(s), op.x.shape[1], op.out.row<float>(row));
  }
}

}  // namespace biogpu::ops
