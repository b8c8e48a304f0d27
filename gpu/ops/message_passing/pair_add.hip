// Rows of both ends of an edge added to the edge's own.
//
// Shapes   see lib/ops/message_passing/pair_add.hpp.
// Mapping  one thread a number.
// Traffic  16 bytes a number; memory bound.
// Result   sums in one order; the same for all grids.
// Source   own.
// Oracle   lib/ops/message_passing/pair_add_ref.cpp.
#include "lib/ops/message_passing/pair_add.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

struct PairAddArrays {
  const float *x, *receiver, *neighbour;
  const std::int32_t *receivers, *neighbours;
  float* out;
  std::int64_t n_edges;
  int d;
};

__global__ __launch_bounds__(kRowBlock) void pair_add_kernel(PairAddArrays a) {
  const RowGroup place = row_group(a.d);
  if (place.row >= a.n_edges) return;
  const std::int64_t i = a.receivers[place.row], j = a.neighbours[place.row];
  const std::int64_t at = place.row * a.d + place.group;
  const float sum = a.receiver[i * a.d + place.group] + a.neighbour[j * a.d + place.group];
  a.out[at] = a.x[at] + sum;
}

}  // namespace

void pair_add(Device& device, const biogpu::ops::PairAdd& op) {
  const PairAddArrays arrays{op.x.as<float>(),
                             op.receiver.as<float>(),
                             op.neighbour.as<float>(),
                             op.edges->receivers.as<std::int32_t>(),
                             op.edges->neighbours.as<std::int32_t>(),
                             op.out.as<float>(),
                             op.x.shape[0],
                             static_cast<int>(op.x.shape[1])};
  if (arrays.n_edges == 0) return;
  device.stream().launch(pair_add_kernel, row_blocks(arrays.n_edges * arrays.d), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
