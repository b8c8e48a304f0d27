#include "lib/ops/elementwise/row_scale.hpp"

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void row_scale_ref(const RowScale& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r)
      for (std::int64_t f = 0; f < op.x.shape[1]; ++f)
        op.out.row<T>(r)[f] = op.scale.as<T>()[r] * op.x.row<T>(r)[f];
  });
}

void row_scale_grad_ref(const RowScaleGrad& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
      double sum = 0;
      for (std::int64_t f = 0; f < op.x.shape[1]; ++f) {
        const T g = op.d_out.row<T>(r)[f];
        sum += static_cast<double>(g) * static_cast<double>(op.x.row<T>(r)[f]);
        op.d_x.row<T>(r)[f] = op.scale.as<T>()[r] * g;
      }
      op.d_scale.as<T>()[r] = static_cast<T>(sum);
    }
  });
}

}  // namespace biogpu::ops
