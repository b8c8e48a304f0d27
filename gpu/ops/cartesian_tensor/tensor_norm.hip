// Squared norms of tensors, whole or of their three parts.
//
// Shapes   see lib/ops/cartesian_tensor/tensor_norm.hpp; T atoms, F channels.
// Mapping  one thread per atom and channel, all of whose numbers are in its registers.
// Traffic  4 (9 + P) bytes a tensor; memory bound.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own; TensorNet (arXiv 2306.06482).
// Oracle   tensor_norm_ref, lib/ops/cartesian_tensor/tensor_norm_ref.cpp.
#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/device.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm.hpp"

namespace biogpu::gpu::ops {
namespace {

struct TensorNormArrays {
  const float* x;
  float* out;
  int n_parts;
  TensorGrid grid;
};

__global__ __launch_bounds__(kRowBlock) void tensor_norm_kernel(TensorNormArrays a) {
  const RowGroup place = row_group(a.grid.d);
  if (place.row >= a.grid.n_atoms) return;
  const std::int64_t at = place.row * a.grid.d + place.group, step = a.grid.step();
  const auto squares = biogpu::ops::norms(load_numbers(a.x, at, step));
  float* const out = a.out + (place.row * a.n_parts) * a.grid.d + place.group;
  if (a.n_parts == 1) {
    *out = squares.sum();
    return;
  }
  out[0] = squares.scalar;
  out[a.grid.d] = squares.antisymmetric;
  out[2 * a.grid.d] = squares.symmetric;
}

}  // namespace

void tensor_norm(Device& device, const biogpu::ops::TensorNorm& op) {
  if (op.x.size() == 0) return;
  const TensorNormArrays arrays{op.x.as<float>(),
                                op.out.as<float>(),
                                static_cast<int>(op.out.shape[1]),
                                {op.x.shape[1], static_cast<int>(op.x.shape[2])}};
  device.stream().launch(tensor_norm_kernel, arrays.grid.blocks(), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
