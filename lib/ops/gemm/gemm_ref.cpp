#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/reference/outputs.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

template <class T>
void gemm_of(const Gemm& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r)
    for (std::int64_t n = 0; n < op.linear->n_out; ++n) {
      const T *const x = op.x.row<T>(r), *const weight = op.linear->weight.row<T>(n);
      double y = op.linear->bias.empty() ? 0 : static_cast<double>(op.linear->bias.as<T>()[n]);
      for (std::int64_t k = 0; k < op.linear->n_in; ++k) y += static_cast<double>(x[k]) * weight[k];
      y = reference::activate(op.activation, y);
      if (!op.residual.empty()) y += static_cast<double>(op.residual.row<T>(r)[n]);
      op.out.row<T>(r)[n] = static_cast<T>(y);
    }
}

}  // namespace

void gemm_ref(const Gemm& op) {
  reference::with_real(op.x, [&](auto real) { gemm_of<decltype(real)>(op); });
}

}  // namespace biogpu::ops
