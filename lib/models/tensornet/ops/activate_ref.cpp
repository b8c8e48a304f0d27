#include "lib/models/tensornet/ops/activate.hpp"

#include "lib/models/tensornet/ops/activation_unit.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::models::tensornet {

using ops::reference::with_real;

void activate_ref(const Activate& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i) {
      const UnitValue<double> y(op.unit, static_cast<double>(op.x.as<T>()[i]));
      op.out.as<T>()[i] = static_cast<T>(y.value);
    }
  });
}

void activate_grad_ref(const ActivateGrad& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i) {
      const UnitValue<double> y(op.unit, static_cast<double>(op.x.as<T>()[i]));
      op.d_x.as<T>()[i] = static_cast<T>(static_cast<double>(op.d_out.as<T>()[i]) * y.slope);
    }
  });
}

}  // namespace biogpu::models::tensornet
