#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::for_tensors;
using ops::Lanes;
using ops::load_lanes;
using ops::load_numbers;
using ops::number_step;
using ops::Numbers9;
using ops::store_lanes;
using ops::store_numbers;

Lanes factor_of(const Tensor& factor, std::int64_t i) {
  return Lanes{} + (factor.empty() ? 1.0f : factor.as<float>()[i]);
}

}  // namespace

void part_scale_cpu(CpuContext& context, const PartScale& op) {
  const std::int64_t step = number_step(op.x), d = op.x.shape[2];
  for_tensors(context, op.x, [&](std::int64_t i, std::int64_t f, std::int64_t at, std::int64_t n) {
    const float* const weights = op.weights.as<float>() + 3 * i * d + f;
    for (int c = 0; c < 9; ++c)
      store_lanes(load_lanes(weights + ops::part_of(c, 9) * d, n) *
                      load_lanes(op.x.as<float>() + c * step + at, n),
                  op.out.as<float>() + c * step + at, n);
  });
}

void part_scale_grad_cpu(CpuContext& context, const PartScaleGrad& op) {
  const std::int64_t step = number_step(op.x), d = op.x.shape[2];
  for_tensors(context, op.x, [&](std::int64_t i, std::int64_t f, std::int64_t at, std::int64_t n) {
    const std::int64_t parts = 3 * i * d + f;
    Lanes sums[3] = {};
    for (int c = 0; c < 9; ++c) {
      const int p = ops::part_of(c, 9);
      const Lanes g = load_lanes(op.d_out.as<float>() + c * step + at, n);
      sums[p] += g * load_lanes(op.x.as<float>() + c * step + at, n);
      store_lanes(g * load_lanes(op.weights.as<float>() + parts + p * d, n),
                  op.d_x.as<float>() + c * step + at, n);
    }
    for (int p = 0; p < 3; ++p) store_lanes(sums[p], op.d_weights.as<float>() + parts + p * d, n);
  });
}

void tensor_shrink_cpu(CpuContext& context, const TensorShrink& op) {
  const std::int64_t step = number_step(op.x);
  for_tensors(context, op.x, [&](std::int64_t, std::int64_t, std::int64_t at, std::int64_t n) {
    store_numbers(ops::shrink(load_numbers(op.x.as<float>() + at, step, n)),
                  op.out.as<float>() + at, step, n);
  });
}

void tensor_shrink_grad_cpu(CpuContext& context, const TensorShrinkGrad& op) {
  const std::int64_t step = number_step(op.x);
  for_tensors(context, op.x, [&](std::int64_t, std::int64_t, std::int64_t at, std::int64_t n) {
    store_numbers(ops::shrink_grad(load_numbers(op.x.as<float>() + at, step, n),
                                   load_numbers(op.d_out.as<float>() + at, step, n)),
                  op.d_x.as<float>() + at, step, n);
  });
}

void tensor_update_cpu(CpuContext& context, const TensorUpdate& op) {
  const std::int64_t step = number_step(op.x);
  for_tensors(context, op.x, [&](std::int64_t i, std::int64_t, std::int64_t at, std::int64_t n) {
    const Numbers9<Lanes> x = load_numbers(op.x.as<float>() + at, step, n),
                          y = load_numbers(op.y.as<float>() + at, step, n);
    Numbers9<Lanes> out = ops::square(y, factor_of(op.factor, i));
    for (int c = 0; c < 9; ++c) out.n[c] += x.n[c] + y.n[c];
    store_numbers(out, op.out.as<float>() + at, step, n);
  });
}

void tensor_update_grad_cpu(CpuContext& context, const TensorUpdateGrad& op) {
  const std::int64_t step = number_step(op.y);
  for_tensors(context, op.y, [&](std::int64_t i, std::int64_t, std::int64_t at, std::int64_t n) {
    const Numbers9<Lanes> g = load_numbers(op.d_out.as<float>() + at, step, n);
    Numbers9<Lanes> d_y =
        ops::square_grad(load_numbers(op.y.as<float>() + at, step, n), factor_of(op.factor, i), g);
    for (int c = 0; c < 9; ++c) d_y.n[c] += g.n[c];
    store_numbers(d_y, op.d_y.as<float>() + at, step, n);
  });
}

}  // namespace biogpu::models::tensornet
