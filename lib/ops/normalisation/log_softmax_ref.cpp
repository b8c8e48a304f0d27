#include "lib/ops/normalisation/log_softmax.hpp"
#include "lib/ops/reference/scores.hpp"

namespace biogpu::ops {

void log_softmax_ref(const LogSoftmax& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
    auto* const row = op.x.row<float>(r);
    const double log_sum = reference::log_sum_exp({row, row + op.x.shape[1]});
    for (std::int64_t i = 0; i < op.x.shape[1]; ++i) row[i] = static_cast<float>(row[i] - log_sum);
  }
}

}  // namespace biogpu::ops
