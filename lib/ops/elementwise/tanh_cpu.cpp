#include <cmath>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/elementwise/tanh.hpp"

namespace biogpu::ops {

void tanh_cpu(CpuContext& context, const Tanh& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row)
      for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
        op.x.row<float>(row)[i] = std::tanh(op.x.row<float>(row)[i]);
  });
}

}  // namespace biogpu::ops
