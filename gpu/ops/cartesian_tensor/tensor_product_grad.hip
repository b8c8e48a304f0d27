// The gradient of products of two tensors of each channel.
//
// Shapes   see lib/ops/cartesian_tensor/tensor_product_grad.hpp; T atoms, F channels.
// Mapping  one thread per atom and channel, all of whose numbers are in its registers.
// Traffic  180 bytes a tensor for 400 operations; memory bound. The product is computed again.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own.
// Oracle   tensor_product_grad_ref, lib/ops/cartesian_tensor/tensor_product_grad_ref.cpp.
#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/device.hpp"
#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"

namespace biogpu::gpu::ops {
namespace {

struct TensorProductGradArrays {
  const float *y, *m, *factor, *d_out;  // factor: or null
  float *d_y, *d_m;
  bool one_sided;
  TensorGrid grid;
};

__global__ __launch_bounds__(kRowBlock) void tensor_product_grad_kernel(TensorProductGradArrays a) {
  const RowGroup place = row_group(a.grid.d);
  if (place.row >= a.grid.n_atoms) return;
  const std::int64_t at = place.row * a.grid.d + place.group, step = a.grid.step();
  const float factor = a.factor != nullptr ? a.factor[place.row] : 1.0f;
  const Matrix y = biogpu::ops::compose(load_numbers(a.y, at, step)),
               m = biogpu::ops::compose(load_numbers(a.m, at, step));
  const auto d =
      biogpu::ops::small_product_grad(y, m, factor, a.one_sided, load_numbers(a.d_out, at, step));
  store_numbers(a.d_y, at, step, d.y);
  store_numbers(a.d_m, at, step, d.m);
}

}  // namespace

void tensor_product_grad(Device& device, const biogpu::ops::TensorProductGrad& op) {
  if (op.y.size() == 0) return;
  const TensorProductGradArrays arrays{
      op.y.as<float>(),      op.m.as<float>(),
      op.factor.as<float>(), op.d_out.as<float>(),
      op.d_y.as<float>(),    op.d_m.as<float>(),
      op.one_sided,          {op.y.shape[1], static_cast<int>(op.y.shape[2])}};
  device.stream().launch(tensor_product_grad_kernel, arrays.grid.blocks(), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
