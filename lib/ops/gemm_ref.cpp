#include "lib/ops/gemm.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {

void gemm_ref(const Gemm& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r)
    for (std::int64_t n = 0; n < op.linear->n_out; ++n) {
      double y = op.linear->bias.empty() ? 0 : op.linear->bias.as<float>()[n];
      for (std::int64_t k = 0; k < op.linear->n_in; ++k)
        y += static_cast<double>(op.x.row<float>(r)[k]) * op.linear->weight.row<float>(n)[k];
      y = reference::activate(op.activation, y);
      if (!op.residual.empty()) y += op.residual.row<float>(r)[n];
      op.out.row<float>(r)[n] = static_cast<float>(y);
    }
}

}  // namespace biogpu::ops
