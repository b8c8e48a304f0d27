#include <algorithm>

#include "lib/ops/gather_rows.hpp"

namespace biogpu::ops {

void gather_rows_ref(const GatherRows& op) {
  const auto* const rows = op.rows.as<std::int32_t>();
  for (std::int64_t r = 0; r < op.out.shape[0]; ++r)
    std::copy_n(op.x.row<float>(rows != nullptr ? rows[r] : r), op.x.shape[1],
                op.out.row<float>(r));
}

}  // namespace biogpu::ops
