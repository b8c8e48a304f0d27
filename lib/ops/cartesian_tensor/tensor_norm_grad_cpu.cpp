#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"

namespace biogpu::ops {

void tensor_norm_grad_cpu(CpuContext& context, const TensorNormGrad& op) {
  const std::int64_t step = number_step(op.x);
  for_tensors(context, op.x, [&](std::int64_t i, std::int64_t f, std::int64_t at, std::int64_t n) {
    const std::int64_t n_parts = op.d_out.shape[1], d = op.x.shape[2];
    const float* const d_out = op.d_out.as<float>() + i * n_parts * d + f;
    const std::int64_t part = n_parts == 1 ? 0 : d;  // from one part's gradient to the next
    const Norms3<Lanes> g{load_lanes(d_out, n), load_lanes(d_out + part, n),
                          load_lanes(d_out + 2 * part, n)};
    store_numbers(norms_grad(load_numbers(op.x.as<float>() + at, step, n), g),
                  op.d_x.as<float>() + at, step, n);
  });
}

}  // namespace biogpu::ops
