#include <vector>

#include "lib/ops/add_layer_norm.hpp"
#include "lib/ops/reference/layer_norm_row.hpp"

namespace biogpu::ops {

void add_layer_norm_ref(const AddLayerNorm& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
    const float* const row = op.x.row<float>(r);
    std::vector<double> x(row, row + op.x.shape[1]);
    if (!op.add.empty())
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += op.add.row<float>(r)[i];
    reference::write_targets(op, x, r);
  }
}

}  // namespace biogpu::ops
