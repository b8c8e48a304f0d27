// Convolution of segments of rows.
//
// Shapes   see lib/ops/convolution/conv1d.hpp.
// Mapping  conv_product.hip; of one tap and one result where suitable gemm_warpgroup.hip.
// Traffic  see there.
// Result   see there.
// Source   own.
// Oracle   conv1d_ref, lib/ops/convolution/conv1d_ref.cpp.
#include "lib/ops/convolution/conv1d.hpp"

#include "gpu/ops/convolution/conv_product.hpp"
#include "gpu/ops/gemm/gemm_runner.hpp"
#include "gpu/ops/gemm/gemm_warpgroup.hpp"
#include "gpu/ops/gemm/tiles.hpp"

namespace biogpu::gpu::ops {

namespace {

// One tap whose result alone is wanted: a product that adds to its result where it lies. False, and
// nothing done, where it does not suit; sums are the same either way.
bool multiply_rows(Device& device, const biogpu::ops::Conv1d& op) {
  const Rows x = rows_of(op.x), out = rows_of(op.out), residual = rows_of(op.residual);
  if (op.taps != 1 || op.stride != 1 || x.type == Element::f32 || !op.activated.out.empty() ||
      (residual.data != nullptr && residual.data != out.data))
    return false;
  const auto& weights = *static_cast<const DeviceLinear*>(op.linear->packed);
  GemmArgs args;
  args.a = static_cast<const std::uint16_t*>(x.data);
  args.b = weights.weight;
  args.lda = x.stride;
  args.ldb = weights.k;
  args.m = static_cast<int>(op.x.shape[0]);
  args.n = static_cast<int>(op.linear->n_out);
  args.k = static_cast<int>(weights.k);
  args.epilogue.bias = weights.bias;
  args.epilogue.residual = residual;
  args.out = out;
  const Number16 type = x.type == Element::bf16 ? Number16::bf16 : Number16::fp16;
  return launch_gemm_warpgroup(args, type, device.state<Tiles>().table, device.stream());
}

}  // namespace

void conv1d(Device& device, const biogpu::ops::Conv1d& op) {
  if (multiply_rows(device, op)) return;
  const bool pointwise = op.taps == 1 && op.stride == 1;
  ConvProduct product;
  product.x = rows_of(op.x);
  product.n_x_rows = op.x.shape[0];
  product.linear = op.linear;
  product.taps = static_cast<int>(op.taps);
  product.stride = static_cast<int>(op.stride);
  product.m = op.x.shape[0];
  product.rows = op.stride == 1 ? op.segments : op.out_segments;
  if (!pointwise) {
    product.segments = map_segments(*op.segments, *product.rows);
    product.m = product.rows->n_rows;
  }
  product.residual = rows_of(op.residual);
  product.outputs = outputs_of(op.linear->n_out, op.out, op.activated);
  multiply_windows(device, product);
}

}  // namespace biogpu::gpu::ops
