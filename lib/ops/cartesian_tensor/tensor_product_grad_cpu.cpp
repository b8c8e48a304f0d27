#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"
#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"

namespace biogpu::ops {

void tensor_product_grad_cpu(CpuContext& context, const TensorProductGrad& op) {
  const std::int64_t step = number_step(op.y);
  for_tensors(context, op.y, [&](std::int64_t i, std::int64_t, std::int64_t at, std::int64_t n) {
    const float factor = op.factor.empty() ? 1.0f : op.factor.as<float>()[i];
    const auto y = compose(load_numbers(op.y.as<float>() + at, step, n)),
               m = compose(load_numbers(op.m.as<float>() + at, step, n));
    const auto d_out = load_numbers(op.d_out.as<float>() + at, step, n);
    const auto d = small_product_grad(y, m, Lanes{} + factor, op.one_sided, d_out);
    store_numbers(d.y, op.d_y.as<float>() + at, step, n);
    store_numbers(d.m, op.d_m.as<float>() + at, step, n);
  });
}

}  // namespace biogpu::ops
