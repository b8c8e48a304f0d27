// The gradient of squared norms of tensors.
//
// Shapes   see lib/ops/cartesian_tensor/tensor_norm_grad.hpp; T atoms, F channels.
// Mapping  one thread per atom and channel, all of whose numbers are in its registers.
// Traffic  4 (18 + P) bytes a tensor; memory bound.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own.
// Oracle   tensor_norm_grad_ref, lib/ops/cartesian_tensor/tensor_norm_grad_ref.cpp.
#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/device.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"

namespace biogpu::gpu::ops {
namespace {

struct TensorNormGradArrays {
  const float *x, *d_out;
  float* d_x;
  int n_parts;
  TensorGrid grid;
};

__global__ __launch_bounds__(kRowBlock) void tensor_norm_grad_kernel(TensorNormGradArrays a) {
  const RowGroup place = row_group(a.grid.d);
  if (place.row >= a.grid.n_atoms) return;
  const std::int64_t at = place.row * a.grid.d + place.group, step = a.grid.step();
  const float* const d_out = a.d_out + (place.row * a.n_parts) * a.grid.d + place.group;
  const int part = a.n_parts == 1 ? 0 : a.grid.d;  // from one part's gradient to the next
  const biogpu::ops::Norms3<float> g{d_out[0], d_out[part], d_out[2 * part]};
  store_numbers(a.d_x, at, step, biogpu::ops::norms_grad(load_numbers(a.x, at, step), g));
}

}  // namespace

void tensor_norm_grad(Device& device, const biogpu::ops::TensorNormGrad& op) {
  if (op.x.size() == 0) return;
  const TensorNormGradArrays arrays{op.x.as<float>(),
                                    op.d_out.as<float>(),
                                    op.d_x.as<float>(),
                                    static_cast<int>(op.d_out.shape[1]),
                                    {op.x.shape[1], static_cast<int>(op.x.shape[2])}};
  device.stream().launch(tensor_norm_grad_kernel, arrays.grid.blocks(), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
