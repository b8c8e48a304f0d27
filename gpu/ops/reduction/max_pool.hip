// Maxima of windows of rows.
//
// Shapes   see lib/ops/reduction/max_pool.hpp.
// Mapping  one thread per 4 columns of a result.
// Traffic  each array once; memory bound.
// Result   exact; activated to a few roundings.
// Source   own.
// Oracle   max_pool_ref, lib/ops/reduction/max_pool_ref.cpp.
#include "lib/ops/reduction/max_pool.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/ops/segment_windows.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void max_pool_kernel(Outputs to, Rows x,
                                                             SegmentMap segments, int size,
                                                             std::int64_t n_rows) {
  const RowGroup at = row_group(ceil_div(to.n, 4));
  if (at.row >= n_rows) return;
  const RowWindow window = window_of(segments, static_cast<int>(at.row), size, size, 0);
  if (window.end == 0) return;  // in no segment
  const int column = 4 * at.group;
  float most[4];
  load_neighbours<4>(x, window.first, column, to.n, most);
  for (int tap = 1; tap < window.end; ++tap) {
    float y[4];
    load_neighbours<4>(x, window.first + tap, column, to.n, y);
#pragma unroll
    for (int i = 0; i < 4; ++i) most[i] = y[i] > most[i] || y[i] != y[i] ? y[i] : most[i];
  }
  store_outputs<4>(to, at.row, column, most);
}

}  // namespace

void max_pool(Device& device, const biogpu::ops::MaxPool& op) {
  const std::int64_t n = op.out_segments->n_rows, d = op.x.shape[1];
  if (n == 0) return;
  device.stream().launch(max_pool_kernel, row_blocks(n * ceil_div(d, 4)), kRowBlock,
                         outputs_of(d, op.out, op.activated), rows_of(op.x),
                         map_segments(*op.segments, *op.out_segments), static_cast<int>(op.size),
                         n);
}

}  // namespace biogpu::gpu::ops
