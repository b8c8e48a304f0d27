// Convolutions of each channel by itself.
//
// Shapes   see lib/ops/convolution/depthwise_conv1d.hpp.
// Mapping  one thread per 4 columns of a result, neighbouring rows in neighbouring blocks.
// Traffic  each array once from memory, x again from L2 for the other taps; memory bound: 16,384
//          rows of 1,536 columns in 16 bits are 100 MB, 0.03 ms on an H100 (3.35 TB/s).
// Result   fp32 sums, taps ascending.
// Source   own.
// Oracle   depthwise_conv1d_ref, lib/ops/convolution/depthwise_conv1d_ref.cpp.
#include "lib/ops/convolution/depthwise_conv1d.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/ops/segment_windows.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void depthwise_conv1d_kernel(Outputs to, Rows x,
                                                                     Rows weight,
                                                                     SegmentMap segments, int taps,
                                                                     std::int64_t n_rows) {
  const RowGroup at = row_group(ceil_div(to.n, 4));
  if (at.row >= n_rows) return;
  const RowWindow window = window_of(segments, static_cast<int>(at.row), taps, 1, (taps - 1) / 2);
  if (window.end == 0) return;  // in no segment
  const int column = 4 * at.group;
  float y[4] = {};
  for (int tap = window.begin; tap < window.end; ++tap) {
    float value[4], factor[4];
    load_neighbours<4>(x, window.first + tap, column, to.n, value);
    load_neighbours<4>(weight, tap, column, to.n, factor);
#pragma unroll
    for (int i = 0; i < 4; ++i) y[i] += value[i] * factor[i];
  }
  store_outputs<4>(to, at.row, column, y);
}

}  // namespace

void depthwise_conv1d(Device& device, const biogpu::ops::DepthwiseConv1d& op) {
  const std::int64_t n = op.segments->n_rows, d = op.x.shape[1];
  if (n == 0) return;
  device.stream().launch(depthwise_conv1d_kernel, row_blocks(n * ceil_div(d, 4)), kRowBlock,
                         outputs_of(d, op.out, op.activated), rows_of(op.x), rows_of(op.weight),
                         map_segments(*op.segments, *op.segments),
                         static_cast<int>(op.weight.shape[0]), n);
}

}  // namespace biogpu::gpu::ops
