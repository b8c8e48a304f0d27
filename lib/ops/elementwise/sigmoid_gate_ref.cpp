#include "lib/ops/elementwise/sigmoid_gate.hpp"

#include <cmath>

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void sigmoid_gate_ref(const SigmoidGate& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i)
      op.out.as<T>()[i] = static_cast<T>(static_cast<double>(op.x.as<T>()[i]) /
                                         (1 + std::exp(-static_cast<double>(op.gate.as<T>()[i]))));
  });
}

void sigmoid_gate_grad_ref(const SigmoidGateGrad& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i) {
      const double s = 1 / (1 + std::exp(-static_cast<double>(op.gate.as<T>()[i])));
      const double g = op.d_out.as<T>()[i], x = op.x.as<T>()[i];
      op.d_x.as<T>()[i] = static_cast<T>(g * s);
      op.d_gate.as<T>()[i] = static_cast<T>(g * x * s * (1 - s));
    }
  });
}

}  // namespace biogpu::ops
