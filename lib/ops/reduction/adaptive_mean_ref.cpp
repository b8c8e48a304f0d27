#include "lib/ops/reduction/adaptive_mean.hpp"

namespace biogpu::ops {

void adaptive_mean_ref(const AdaptiveMean& op) {
  const std::int64_t m = op.out.shape[1];
  for (std::int64_t b = 0; b < op.out.shape[0]; ++b)
    for (std::int64_t i = 0; i < m; ++i) {
      const AdaptiveRange range = adaptive_range(i, op.x.shape[1], m);
      for (std::int64_t c = 0; c < op.out.shape[2]; ++c) {
        double sum = 0;
        for (std::int64_t j = range.begin; j < range.end; ++j)
          sum += op.x.row<float>(b)[j * op.x.stride[1] + c];
        op.out.row<float>(b)[i * op.out.stride[1] + c] =
            static_cast<float>(sum / static_cast<double>(range.end - range.begin));
      }
    }
}

}  // namespace biogpu::ops
