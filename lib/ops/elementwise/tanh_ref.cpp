#include <cmath>

#include "lib/ops/elementwise/tanh.hpp"

namespace biogpu::ops {

void tanh_ref(const Tanh& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r)
    for (std::int64_t i = 0; i < op.x.shape[1]; ++i) {
      float& x = op.x.row<float>(r)[i];
      x = static_cast<float>(std::tanh(static_cast<double>(x)));
    }
}

}  // namespace biogpu::ops
