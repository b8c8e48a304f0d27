#include <vector>

#include "lib/ops/gather/embed.hpp"
#include "lib/ops/reference/layer_norm_row.hpp"

namespace biogpu::ops {

void embed_ref(const Embed& op) {
  const std::int64_t d = op.table.shape[1];
  for (std::int64_t t = 0; t < op.ids.shape[0]; ++t) {
    const float* const row = op.table.row<float>(op.ids.as<std::int32_t>()[t]);
    std::vector<double> x(row, row + d);
    if (!op.scale.empty())
      for (double& v : x) v *= op.scale.as<float>()[t];
    if (!op.position_table.empty()) {
      const float* const position =
          op.position_table.row<float>(op.positions.as<std::int32_t>()[t]);
      for (std::int64_t i = 0; i < d; ++i) x[static_cast<std::size_t>(i)] += position[i];
    }
    reference::write_targets(op, x, t);
  }
}

}  // namespace biogpu::ops
