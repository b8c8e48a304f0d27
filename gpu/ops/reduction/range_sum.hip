// Sums of rows over ranges, in double precision.
//
// Shapes   see lib/ops/reduction/range_sum.hpp; R ranges of N rows in all, d columns.
// Mapping  one thread per column of a range, which loads kAhead rows before it adds them; threads
//          behind the last column of the last range do nothing.
// Traffic  4 N d bytes are read and 8 R d written; memory bound where ranges are many, else bound
//          by the latency of a range's N additions.
// Result   exact: the bytes of the reference, since no step is fused and no order is changed.
// Source   own.
// Oracle   range_sum_ref, lib/ops/reduction/range_sum_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/exact_math.hpp"
#include "lib/ops/reduction/range_sum.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kAhead = 8;

struct RangeSums {
  const float* x;
  std::int64_t stride;
  const std::int32_t* ranges;
  const double* factors;
  const std::int32_t* columns;
  double* out;
  std::int64_t out_stride, n_ranges;
  int d;
};

__global__ __launch_bounds__(kRowBlock) void range_sum_kernel(RangeSums s) {
  const RowGroup at = row_group(s.d);
  if (at.row >= s.n_ranges) return;
  const int end = s.ranges[2 * at.row + 1];
  const double factor = s.factors[at.row];
  const float* const column = s.x + (s.columns != nullptr ? s.columns[at.group] : at.group);
  double sum = 0;
  int t = s.ranges[2 * at.row];
  for (; t + kAhead <= end; t += kAhead) {
    float ahead[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) ahead[i] = column[(t + i) * s.stride];
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      sum = exact_plus_product(sum, factor, static_cast<double>(ahead[i]));
  }
  for (; t < end; ++t)
    sum = exact_plus_product(sum, factor, static_cast<double>(column[t * s.stride]));
  s.out[at.row * s.out_stride + at.group] = sum;
}

}  // namespace

void range_sum(Device& device, const biogpu::ops::RangeSum& op) {
  const RangeSums s{op.x.as<float>(),
                    op.x.stride[0],
                    op.ranges.as<std::int32_t>(),
                    op.factors.as<double>(),
                    op.columns.as<std::int32_t>(),
                    op.out.as<double>(),
                    op.out.stride[0],
                    op.out.shape[0],
                    static_cast<int>(op.out.shape[1])};
  if (s.n_ranges == 0 || s.d == 0) return;
  device.stream().launch(range_sum_kernel, row_blocks(s.n_ranges * s.d), kRowBlock, s);
}

}  // namespace biogpu::gpu::ops
