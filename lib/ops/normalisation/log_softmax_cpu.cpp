#include <algorithm>
#include <cmath>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"

namespace biogpu::ops {

void log_softmax_cpu(CpuContext& context, const LogSoftmax& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row) {
      auto* const v = op.x.row<float>(row);
      float* const last = v + op.x.shape[1];
      const float top = *std::max_element(v, last);
      float sum = 0;
      for (const float* p = v; p < last; ++p) sum += std::exp(*p - top);
      const float log_sum = top + std::log(sum);
      for (float* p = v; p < last; ++p) *p -= log_sum;
    }
  });
}

}  // namespace biogpu::ops
