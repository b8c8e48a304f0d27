#include "lib/ops/elementwise/silu.hpp"

#include <cmath>

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void silu_ref(const Silu& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i) {
      const double x = op.x.as<T>()[i];
      op.out.as<T>()[i] = static_cast<T>(x / (1 + std::exp(-x)));
    }
  });
}

}  // namespace biogpu::ops
