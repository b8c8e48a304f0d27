// Rows repeated, with a residual.
//
// Shapes   see lib/ops/gather/repeat_rows.hpp.
// Mapping  one thread per 4 columns of a result.
// Traffic  each array once; memory bound.
// Result   exact or one rounding; activated to a few roundings.
// Source   own.
// Oracle   repeat_rows_ref, lib/ops/gather/repeat_rows_ref.cpp.
#include "lib/ops/gather/repeat_rows.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/ops/segment_windows.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void repeat_rows_kernel(Outputs to, Rows x, Rows residual,
                                                                SegmentMap segments, int factor,
                                                                std::int64_t n_rows) {
  const RowGroup at = row_group(ceil_div(to.n, 4));
  if (at.row >= n_rows) return;
  const int row = static_cast<int>(at.row), column = 4 * at.group;
  const int s = segment_of(segments.out, segments.n, row);
  if (s == segments.n) return;
  float y[4];
  load_neighbours<4>(x, segments.in[s] + (row - segments.out[s]) / factor, column, to.n, y);
  if (residual.data != nullptr) {
    float added[4];
    load_neighbours<4>(residual, row, column, to.n, added);
#pragma unroll
    for (int i = 0; i < 4; ++i) y[i] += added[i];
  }
  store_outputs<4>(to, row, column, y);
}

}  // namespace

void repeat_rows(Device& device, const biogpu::ops::RepeatRows& op) {
  const std::int64_t n = op.out_segments->n_rows, d = op.x.shape[1];
  if (n == 0) return;
  device.stream().launch(repeat_rows_kernel, row_blocks(n * ceil_div(d, 4)), kRowBlock,
                         outputs_of(d, op.out, op.activated), rows_of(op.x), rows_of(op.residual),
                         map_segments(*op.segments, *op.out_segments), static_cast<int>(op.factor),
                         n);
}

}  // namespace biogpu::gpu::ops
