#include "lib/ops/reduction/mean_pool.hpp"

namespace biogpu::ops {

void mean_pool_ref(const MeanPool& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) {
    const std::int64_t first = op.segments->begin(s) + op.skip_begin,
                       last = op.segments->end(s) - op.skip_end;
    for (std::int64_t i = 0; i < op.out.shape[1]; ++i) {
      double sum = 0;
      for (std::int64_t t = first; t < last; ++t) sum += op.x.row<float>(t)[i];
      op.out.row<float>(s)[i] =
          last <= first ? 0.0f : static_cast<float>(sum / static_cast<double>(last - first));
    }
  }
}

}  // namespace biogpu::ops
