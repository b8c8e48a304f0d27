#include "lib/ops/elementwise/silu_grad.hpp"

#include <cmath>

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void silu_grad_ref(const SiluGrad& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i) {
      const double x = op.x.as<T>()[i], s = 1 / (1 + std::exp(-x));
      const double slope = s * (1 + x * (1 - s));
      op.d_x.as<T>()[i] = static_cast<T>(static_cast<double>(op.d_out.as<T>()[i]) * slope);
    }
  });
}

}  // namespace biogpu::ops
