#include <vector>

#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/reference/layer_norm_row.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void add_layer_norm_ref(const AddLayerNorm& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
      const T* const row = op.x.row<T>(r);
      std::vector<double> x(row, row + op.x.shape[1]);
      if (!op.add.empty())
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += static_cast<double>(op.add.row<T>(r)[i]);
      reference::write_targets<T>(
          op, x, r, {op.kind == NormKind::layer, static_cast<std::size_t>(op.n_groups)});
    }
  });
}

}  // namespace biogpu::ops
