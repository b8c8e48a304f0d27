// Convolution of segments of rows.
//
// Shapes   see lib/ops/conv1d.hpp.
// Mapping  conv_product.hip; with one tap and one result a plain product (gemm_runner.hpp); large
//          ones of both results by Hopper's products, a segment a launch (gemm_warpgroup.hip).
// Traffic  see there.
// Result   see there.
// Source   own.
// Oracle   conv1d_ref, lib/ops/conv1d_ref.cpp.
#include "lib/ops/conv1d.hpp"

#include <string>
#include <vector>

#include "gpu/ops/conv_product.hpp"
#include "gpu/ops/gemm_runner.hpp"
#include "gpu/ops/gemm_warpgroup.hpp"
#include "gpu/rt/error.hpp"

namespace biogpu::gpu::ops {
namespace {

Rows from_row(Rows rows, std::int64_t row) {
  if (rows.data == nullptr) return rows;
  const auto bytes = static_cast<std::int64_t>(bytes_of(rows.type));
  rows.data = static_cast<char*>(rows.data) + row * rows.stride * bytes;
  return rows;
}

// One segment by Hopper's products; false, and nothing done, where it does not suit them.
bool multiply_segment(Device& device, const ConvProduct& product, std::int64_t begin,
                      std::int64_t n) {
  const auto& weights = *static_cast<const DeviceLinear*>(product.linear->packed);
  GemmArgs args;
  args.a = static_cast<const std::uint16_t*>(from_row(product.x, begin).data);
  args.b = weights.weight;
  args.lda = product.x.stride;
  args.ldb = weights.k;
  args.m = static_cast<int>(n);
  args.n = product.outputs.n;
  args.k = static_cast<int>(weights.k);
  args.taps = product.taps;
  args.epilogue.bias = weights.bias;
  args.epilogue.residual = product.residual;
  args.epilogue.activated = product.outputs.activated;
  args.epilogue.activated.out = from_row(product.outputs.activated.out, begin);
  args.out = from_row(product.outputs.out, begin);
  const Number16 type = product.x.type == Element::bf16 ? Number16::bf16 : Number16::fp16;
  return launch_conv_warpgroup(args, type, device.stream());
}

// Segments one after the other, those that suit by Hopper's products: the choice, and so the bytes,
// depend on the segment alone. False, and nothing done, where none suits.
bool multiply_segments(Device& device, const biogpu::ops::Conv1d& op, const ConvProduct& product) {
  if (op.stride != 1 || op.taps == 1 || product.x.type == Element::f32) return false;
  std::vector<std::int64_t> left;
  const tensor::Ragged& segments = *op.segments;
  for (std::int64_t s = 0; s < segments.n_segments; ++s)
    if (!multiply_segment(device, product, segments.begin(s), segments.length(s)))
      left.push_back(s);
  if (static_cast<std::int64_t>(left.size()) == segments.n_segments) return false;
  for (const std::int64_t s : left) {
    ConvProduct alone = product;
    alone.first_row = segments.begin(s);
    alone.m = segments.length(s);
    alone.segments.in += s;
    alone.segments.out += s;
    alone.segments.n = 1;
    multiply_windows(device, alone);
  }
  return true;
}

}  // namespace

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
  if (!multiply_segments(device, op, product)) multiply_windows(device, product);
}

}  // namespace biogpu::gpu::ops
