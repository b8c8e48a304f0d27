#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {

void repeat_rows_ref(const RepeatRows& op) {
  for (std::int64_t s = 0; s < op.out_segments->n_segments; ++s)
    for (std::int64_t q = 0; q < op.out_segments->length(s); ++q)
      for (std::int64_t i = 0; i < op.x.shape[1]; ++i) {
        const std::int64_t row = op.out_segments->begin(s) + q;
        double y = op.x.row<float>(op.segments->begin(s) + q / op.factor)[i];
        if (!op.residual.empty()) y += op.residual.row<float>(row)[i];
        reference::store(op.out, op.activated, row, i, y);
      }
}

}  // namespace biogpu::ops
