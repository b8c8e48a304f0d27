// Pools of pairs of rows: the differences of pairs, and their product (conv_product.hip) with the
// softmax of two behind it.
//
// Shapes   see lib/ops/reduction/attention_pool.hpp; d channels.
// Mapping  differences: one thread per 4 numbers of a result.
// Traffic  4 d bytes a row of x twice, by the differences and behind the product; 2 d a result for
//          the differences in 16 bits, written and read; 2 d to 6 d a result as y and activated.
//          2 d^2 operations a result, in large segments in pieces by separate kernels, between
//          which 4 d stay in L2.
// Result   see conv_product.hip; differences are rounded to operands for the product alone.
// Source   own.
// Oracle   attention_pool_ref, lib/ops/reduction/attention_pool_ref.cpp.
#include "lib/ops/reduction/attention_pool.hpp"

#include "gpu/ops/convolution/conv_product.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void subtract_pairs_kernel(Rows differences, RowPair* pairs,
                                                                   Rows x, SegmentMap segments,
                                                                   std::int64_t n_rows, int d) {
  const RowGroup at = row_group(ceil_div(d, 4));
  if (at.row >= n_rows) return;
  const RowWindow window = window_of(segments, static_cast<int>(at.row), 2, 2, 0);
  // A segment's last row is paired with itself; a row of no segment with the first one.
  const RowPair pair = {window.first, window.first + (window.end > 1 ? 1 : 0)};
  if (at.group == 0) pairs[at.row] = pair;
  const int column = 4 * at.group;
  float first[4], second[4], apart[4];
  load_neighbours<4>(x, pair.first, column, d, first);
  load_neighbours<4>(x, pair.second, column, d, second);
#pragma unroll
  for (int i = 0; i < 4; ++i) apart[i] = first[i] - second[i];
  store_neighbours<4>(differences, at.row, column, d, apart);
}

struct PairBuffer {
  explicit PairBuffer(Device&) {}
  DeviceBuffer<RowPair> pairs;
};

}  // namespace

void attention_pool(Device& device, const biogpu::ops::AttentionPool& op) {
  const std::int64_t n = op.out_segments->n_rows;
  if (n == 0) return;
  const int d = static_cast<int>(op.x.shape[1]);
  auto& pairs = device.state<PairBuffer>().pairs;
  device.grow(pairs, static_cast<std::size_t>(n));
  device.stream().launch(subtract_pairs_kernel, row_blocks(n * ceil_div(d, 4)), kRowBlock,
                         rows_of(op.differences), pairs.data(), rows_of(op.x),
                         map_segments(*op.segments, *op.out_segments), n, d);
  ConvProduct product;
  product.x = rows_of(op.differences);
  product.n_x_rows = product.m = n;
  product.rows = op.out_segments;
  product.linear = op.linear;
  product.paired = rows_of(op.x);
  product.pairs = pairs.data();
  product.outputs = outputs_of(d, op.out, op.activated);
  multiply_windows(device, product);
}

}  // namespace biogpu::gpu::ops
