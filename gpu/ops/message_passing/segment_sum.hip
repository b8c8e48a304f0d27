// Sums or means of rows over segments.
//
// Shapes   see lib/ops/message_passing/segment_sum.hpp; d numbers a row.
// Mapping  d >= 8: one thread per column of a segment, the rows one after the other. Less: 32 lanes
//          per segment and column, lane l taking rows l, l + 32, ..., then a fixed tree.
// Traffic  each row once, 4 bytes a number; memory bound. No atomics.
// Result   in an order that the segment's length and d alone tell; the same for waves of 32 and 64.
// Source   own.
// Oracle   segment_sum_ref, lib/ops/message_passing/segment_sum_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/row_lanes.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kMinColumns = 8;

struct Sums {
  const float* x;
  std::int64_t stride;
  const std::int32_t* starts;
  const std::int32_t* order;
  void* out;
  std::int64_t out_stride, n_rows;
  int d;
  bool mean;
  __device__ float number(std::int64_t e, int column) const {
    return x[(order != nullptr ? order[e] : e) * stride + column];
  }
  // The result of a segment of so many rows.
  template <class Sum>
  __device__ Sum finish(Sum sum, std::int64_t n) const {
    return mean && n > 1 ? sum / static_cast<Sum>(n) : sum;
  }
};

template <class Sum>
__global__ __launch_bounds__(kRowBlock) void sum_columns_kernel(Sums s) {
  const RowGroup at = row_group(s.d);
  if (at.row >= s.n_rows) return;
  const std::int64_t begin = s.starts[at.row], end = s.starts[at.row + 1];
  Sum sum = 0;
  for (std::int64_t e = begin; e < end; ++e) sum += s.number(e, at.group);
  static_cast<Sum*>(s.out)[at.row * s.out_stride + at.group] = s.finish(sum, end - begin);
}

template <class Sum, int kWave>
__global__ __launch_bounds__(kRowBlock) void sum_lanes_kernel(Sums s) {
  const std::int64_t item = thread_number() / kLanes;
  const std::int64_t row = item / s.d;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, column = static_cast<int>(item % s.d);
  const bool live = row < s.n_rows;  // all lanes take part in the exchange
  const std::int64_t begin = live ? s.starts[row] : 0, end = live ? s.starts[row + 1] : 0;
  Sum sum = 0;
  for (std::int64_t e = begin + lane; e < end; e += kLanes) sum += s.number(e, column);
  sum = sum_of_lanes<kWave>(sum);
  if (live && lane == 0)
    static_cast<Sum*>(s.out)[row * s.out_stride + column] = s.finish(sum, end - begin);
}

template <class Sum>
void launch(const Sums& s, Stream& stream) {
  if (s.d >= kMinColumns)
    return stream.launch(sum_columns_kernel<Sum>, row_blocks(s.n_rows * s.d), kRowBlock, s);
  const auto kernel =
      stream.wave_width() == 64 ? sum_lanes_kernel<Sum, 64> : sum_lanes_kernel<Sum, 32>;
  stream.launch(kernel, row_blocks(s.n_rows * s.d * kLanes), kRowBlock, s);
}

}  // namespace

void segment_sum(Device& device, const biogpu::ops::SegmentSum& op) {
  const Sums s{op.x.as<float>(),
               op.x.stride[0],
               op.starts.as<std::int32_t>(),
               op.order.as<std::int32_t>(),
               op.out.data,
               op.out.stride[0],
               op.out.shape[0],
               static_cast<int>(op.out.shape[1]),
               op.mean};
  if (s.n_rows == 0 || s.d == 0) return;
  if (op.out.dtype == tensor::DType::f64) return launch<double>(s, device.stream());
  launch<float>(s, device.stream());
}

}  // namespace biogpu::gpu::ops
