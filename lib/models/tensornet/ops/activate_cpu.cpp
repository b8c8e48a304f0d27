#include "lib/models/tensornet/ops/activate.hpp"

#include "lib/models/tensornet/ops/activation_unit.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::tensornet {

void activate_cpu(CpuContext& context, const Activate& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r)
      for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
        op.out.row<float>(r)[i] = UnitValue<float>(op.unit, op.x.row<float>(r)[i]).value;
  });
}

void activate_grad_cpu(CpuContext& context, const ActivateGrad& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r)
      for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
        op.d_x.row<float>(r)[i] =
            op.d_out.row<float>(r)[i] * UnitValue<float>(op.unit, op.x.row<float>(r)[i]).slope;
  });
}

}  // namespace biogpu::models::tensornet
