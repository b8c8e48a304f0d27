// Rows by their segments.
//
// Shapes   see lib/ops/message_passing/segment_order.hpp.
// Mapping  a stable radix sort of pairs of a row's segment and the row, then one thread per segment
//          that searches its begin, and one per row that copies.
// Traffic  12 E bytes each way for every 8 bits of R, and 16 E; memory bound.
// Result   exact.
// Source   own.
// Oracle   segment_order_ref, lib/ops/message_passing/segment_order_ref.cpp.
#include "lib/ops/message_passing/segment_order.hpp"

#include <bit>

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/device_sort_pairs.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void make_pairs_kernel(const std::int32_t* targets,
                                                               std::uint64_t* keys,
                                                               std::uint32_t* rows,
                                                               std::int64_t n) {
  const std::int64_t e = thread_number();
  if (e >= n) return;
  keys[e] = static_cast<std::uint32_t>(targets[e]);
  rows[e] = static_cast<std::uint32_t>(e);
}

// starts[s]: the first pair whose segment is s or a later one.
__global__ __launch_bounds__(kRowBlock) void write_order_kernel(
    const std::uint64_t* keys, const std::uint32_t* rows, std::int32_t* starts, std::int32_t* order,
    std::int64_t n_starts, std::int64_t n) {
  const std::int64_t i = thread_number();
  if (i < n) order[i] = static_cast<std::int32_t>(rows[i]);
  if (i >= n_starts) return;
  std::int64_t low = 0, high = n;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (keys[middle] < static_cast<std::uint64_t>(i)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  starts[i] = static_cast<std::int32_t>(low);
}

// Room for the sort, kept between calls.
struct SegmentSort {
  explicit SegmentSort(Device&) {}
  DeviceBuffer<std::uint64_t> keys[2];
  DeviceBuffer<std::uint32_t> rows[2];
  DeviceBuffer<std::uint8_t> workspace;
};

}  // namespace

void segment_order(Device& device, const biogpu::ops::SegmentOrder& op) {
  const std::int64_t n = op.targets.size(), n_starts = op.starts.size();
  if (n_starts == 0) return;
  Stream& stream = device.stream();
  SegmentSort& sort = device.state<SegmentSort>();
  SortPairs pairs;
  if (n > 0) {
    const auto count = static_cast<std::size_t>(n);
    for (int i = 0; i < 2; ++i) {
      device.grow(sort.keys[i], count);
      device.grow(sort.rows[i], count);
      pairs.keys[i] = sort.keys[i].data();
      pairs.values[i] = sort.rows[i].data();
    }
    device.grow(sort.workspace, sort_pairs_workspace_bytes(count));
    stream.launch(make_pairs_kernel, row_blocks(n), kRowBlock, op.targets.as<std::int32_t>(),
                  pairs.keys[0], pairs.values[0], n);
    sort_pairs(pairs, count, std::bit_width(static_cast<std::uint64_t>(n_starts)),
               sort.workspace.data(), sort.workspace.size(), stream);
  }
  stream.launch(write_order_kernel, row_blocks(n > n_starts ? n : n_starts), kRowBlock,
                pairs.keys[pairs.current], pairs.values[pairs.current],
                op.starts.as<std::int32_t>(), op.order.as<std::int32_t>(), n_starts, n);
}

}  // namespace biogpu::gpu::ops
