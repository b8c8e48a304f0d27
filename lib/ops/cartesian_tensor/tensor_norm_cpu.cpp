#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm.hpp"

namespace biogpu::ops {

void tensor_norm_cpu(CpuContext& context, const TensorNorm& op) {
  const std::int64_t step = number_step(op.x);
  for_tensors(context, op.x, [&](std::int64_t i, std::int64_t f, std::int64_t at, std::int64_t n) {
    const Norms3<Lanes> squares = norms(load_numbers(op.x.as<float>() + at, step, n));
    const std::int64_t n_parts = op.out.shape[1], d = op.x.shape[2];
    float* const out = op.out.as<float>() + i * n_parts * d + f;
    if (n_parts == 1) return store_lanes(squares.sum(), out, n);
    store_lanes(squares.scalar, out, n);
    store_lanes(squares.antisymmetric, out + d, n);
    store_lanes(squares.symmetric, out + 2 * d, n);
  });
}

}  // namespace biogpu::ops
