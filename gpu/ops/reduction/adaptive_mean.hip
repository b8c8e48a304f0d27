// Rows to a given number of rows by means of ranges, PyTorch's adaptive average pooling.
//
// Shapes   see lib/ops/reduction/adaptive_mean.hpp.
// Mapping  one thread per number of the result, in order of memory; a thread reads its column of a
//          range of rows.
// Traffic  each array once, x up to twice where ranges overlap; memory bound.
// Result   fp32 sums in the order of rows, rounded once to the type of out.
// Source   PyTorch's documentation of adaptive_avg_pool1d.
// Oracle   adaptive_mean_ref, lib/ops/reduction/adaptive_mean_ref.cpp.
#include "lib/ops/reduction/adaptive_mean.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

struct AdaptiveMeanArgs {
  Rows x, out;  // stride: from one row of a batch to the next
  std::int64_t x_batch = 0, out_batch = 0;
  std::int64_t n_batches = 0, n = 0, m = 0;
  int d = 0;
};

__global__ __launch_bounds__(kRowBlock) void adaptive_mean_kernel(AdaptiveMeanArgs a) {
  const RowGroup at = row_group(a.d);
  const std::int64_t b = at.row / a.m, i = at.row - b * a.m;
  if (b >= a.n_batches) return;
  const std::int64_t begin = i * a.n / a.m, end = ((i + 1) * a.n + a.m - 1) / a.m;
  const Rows x{a.x.data, 1, a.x.type}, out{a.out.data, 1, a.out.type};
  float sum = 0;
  for (std::int64_t j = begin; j < end; ++j)
    sum += load_element(x, b * a.x_batch + j * a.x.stride, at.group);
  store_element(out, b * a.out_batch + i * a.out.stride, at.group,
                sum / static_cast<float>(end - begin));
}

}  // namespace

void adaptive_mean(Device& device, const biogpu::ops::AdaptiveMean& op) {
  if (op.out.size() == 0) return;
  AdaptiveMeanArgs args;
  args.x = {op.x.data, op.x.stride[1], element_of(op.x.dtype)};
  args.out = {op.out.data, op.out.stride[1], element_of(op.out.dtype)};
  args.x_batch = op.x.stride[0];
  args.out_batch = op.out.stride[0];
  args.n_batches = op.out.shape[0];
  args.n = op.x.shape[1];
  args.m = op.out.shape[1];
  args.d = static_cast<int>(op.out.shape[2]);
  device.stream().launch(adaptive_mean_kernel, row_blocks(op.out.size()), kRowBlock, args);
}

}  // namespace biogpu::gpu::ops
