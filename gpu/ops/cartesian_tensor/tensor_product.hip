// Products of two tensors of each channel, divided by their squared norm and one.
//
// Shapes   see lib/ops/cartesian_tensor/tensor_product.hpp; T atoms, F channels.
// Mapping  one thread per atom and channel, all of whose numbers are in its registers.
// Traffic  108 bytes a tensor for 150 operations; memory bound.
// Result   fused products in fp32; the same for all grids and widths.
// Source   TensorNet (arXiv 2306.06482), equation 8.
// Oracle   tensor_product_ref, lib/ops/cartesian_tensor/tensor_product_ref.cpp.
#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/device.hpp"
#include "lib/ops/cartesian_tensor/tensor_product.hpp"

namespace biogpu::gpu::ops {
namespace {

struct TensorProductArrays {
  const float *y, *m, *factor;  // factor: or null
  float* out;
  bool one_sided;
  TensorGrid grid;
};

__global__ __launch_bounds__(kRowBlock) void tensor_product_kernel(TensorProductArrays a) {
  const RowGroup place = row_group(a.grid.d);
  if (place.row >= a.grid.n_atoms) return;
  const std::int64_t at = place.row * a.grid.d + place.group, step = a.grid.step();
  const float factor = a.factor != nullptr ? a.factor[place.row] : 1.0f;
  const Matrix y = biogpu::ops::compose(load_numbers(a.y, at, step)),
               m = biogpu::ops::compose(load_numbers(a.m, at, step));
  store_numbers(a.out, at, step, biogpu::ops::small_product(y, m, factor, a.one_sided));
}

}  // namespace

void tensor_product(Device& device, const biogpu::ops::TensorProduct& op) {
  if (op.y.size() == 0) return;
  const TensorProductArrays arrays{
      op.y.as<float>(),   op.m.as<float>(), op.factor.as<float>(),
      op.out.as<float>(), op.one_sided,     {op.y.shape[1], static_cast<int>(op.y.shape[2])}};
  device.stream().launch(tensor_product_kernel, arrays.grid.blocks(), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
