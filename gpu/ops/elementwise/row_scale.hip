// Rows times a factor each, and the gradient.
//
// Shapes   see lib/ops/elementwise/row_scale.hpp.
// Mapping  row_scale: one thread a number; row_scale_grad: 32 lanes a row, whose sums end in a
//          fixed tree.
// Traffic  8 bytes a number, 12 of the gradient; memory bound.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own.
// Oracle   lib/ops/elementwise/row_scale_ref.cpp.
#include "lib/ops/elementwise/row_scale.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_lanes.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void row_scale_kernel(float* out, const float* x,
                                                              const float* scale,
                                                              std::int64_t n_rows, int d) {
  const RowGroup place = row_group(d);
  if (place.row >= n_rows) return;
  const std::int64_t at = place.row * d + place.group;
  out[at] = scale[place.row] * x[at];
}

struct RowScaleGradArrays {
  const float *x, *scale, *d_out;
  float *d_x, *d_scale;
  std::int64_t n_rows;
  int d;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void row_scale_grad_kernel(RowScaleGradArrays a) {
  const std::int64_t row = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = row < a.n_rows;
  const float scale = live ? a.scale[row] : 0.0f;
  float sum = 0;
  for (int f = lane; live && f < a.d; f += kLanes) {
    const float g = a.d_out[row * a.d + f];
    sum += g * a.x[row * a.d + f];
    a.d_x[row * a.d + f] = scale * g;
  }
  sum = sum_of_lanes<kWave>(sum);
  if (live && lane == 0) a.d_scale[row] = sum;
}

}  // namespace

void row_scale(Device& device, const biogpu::ops::RowScale& op) {
  if (op.x.size() == 0) return;
  device.stream().launch(row_scale_kernel, row_blocks(op.x.size()), kRowBlock, op.out.as<float>(),
                         op.x.as<float>(), op.scale.as<float>(), op.x.shape[0],
                         static_cast<int>(op.x.shape[1]));
}

void row_scale_grad(Device& device, const biogpu::ops::RowScaleGrad& op) {
  const RowScaleGradArrays arrays{op.x.as<float>(),
                                  op.scale.as<float>(),
                                  op.d_out.as<float>(),
                                  op.d_x.as<float>(),
                                  op.d_scale.as<float>(),
                                  op.x.shape[0],
                                  static_cast<int>(op.x.shape[1])};
  launch_rows(device.stream(), row_scale_grad_kernel<32>, row_scale_grad_kernel<64>, arrays.n_rows,
              arrays);
}

}  // namespace biogpu::gpu::ops
