// Means of the rows of segments.
//
// Shapes   see lib/ops/reduction/mean_pool.hpp.
// Mapping  one thread per column of a segment.
// Traffic  each row once; memory bound.
// Result   four sums in turn, in an order that depends on the segment alone.
// Source   own.
// Oracle   mean_pool_ref, lib/ops/reduction/mean_pool_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/reduction/mean_pool.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void mean_pool_kernel(Rows out, Rows x,
                                                              const std::int32_t* starts,
                                                              std::int64_t n_segments, int d,
                                                              int skip_begin, int skip_end) {
  const std::int64_t segment = thread_number() / d;
  const int column = static_cast<int>(thread_number() % d);
  if (segment >= n_segments) return;
  const int first = starts[segment] + skip_begin, last = starts[segment + 1] - skip_end;
  float sum[4] = {};
  for (int t = first; t < last; ++t) sum[(t - first) % 4] += load_element(x, t, column);
  const float total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  const float mean = last > first ? total / static_cast<float>(last - first) : 0.0f;
  store_element(out, segment, column, mean);
}

}  // namespace

void mean_pool(Device& device, const biogpu::ops::MeanPool& op) {
  const std::int64_t n = op.segments->n_segments;
  const int d = static_cast<int>(op.x.shape[1]);
  if (n == 0) return;
  device.stream().launch(mean_pool_kernel, row_blocks(n * d), kRowBlock, rows_of(op.out),
                         rows_of(op.x), op.segments->device_starts.as<std::int32_t>(), n, d,
                         op.skip_begin, op.skip_end);
}

}  // namespace biogpu::gpu::ops
