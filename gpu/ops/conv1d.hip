// Convolution of segments of rows.
//
// Shapes   see lib/ops/conv1d.hpp.
// Mapping  conv_product.hip; with one tap and one result a plain product (gemm_runner.hpp).
// Traffic  see there.
// Result   see there.
// Source   own.
// Oracle   conv1d_ref, lib/ops/conv1d_ref.cpp.
#include "lib/ops/conv1d.hpp"

#include <string>

#include "gpu/ops/conv_product.hpp"
#include "gpu/ops/gemm_runner.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::gpu::ops {

void conv1d(Device& device, const biogpu::ops::Conv1d& op) {
  if (op.x.shape[1] % 8 != 0)
    throw DeviceError(DeviceError::Kind::failed, "a convolution of " +
                                                     std::to_string(op.x.shape[1]) +
                                                     " channels; GPUs take multiples of 8");
  const bool pointwise = op.taps == 1 && op.stride == 1;
  const bool plain = op.residual.empty() || op.residual.dtype == op.out.dtype;
  if (pointwise && plain && op.activated.out.empty()) {
    GemmEpilogue epilogue;
    epilogue.residual = rows_of(op.residual);
    return device.state<GemmRunner>().multiply(rows_of(op.x), op.x.shape[0], *op.linear, epilogue,
                                               rows_of(op.out));
  }
  ConvProduct product;
  product.x = rows_of(op.x);
  product.n_x_rows = op.x.shape[0];
  product.linear = op.linear;
  product.taps = static_cast<int>(op.taps);
  product.stride = static_cast<int>(op.stride);
  product.m = op.x.shape[0];
  if (!pointwise) {
    const tensor::Ragged& out = op.stride == 1 ? *op.segments : *op.out_segments;
    product.segments = map_segments(*op.segments, out);
    product.m = out.n_rows;
  }
  product.residual = rows_of(op.residual);
  product.outputs = outputs_of(op.linear->n_out, op.out, op.activated);
  multiply_windows(device, product);
}

}  // namespace biogpu::gpu::ops
