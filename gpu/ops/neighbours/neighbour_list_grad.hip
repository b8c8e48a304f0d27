// What positions get back from the distances and displacements of edges.
//
// Shapes   see lib/ops/neighbours/neighbour_list_grad.hpp.
// Mapping  32 lanes per atom; lane l takes edges l, l + 32, ... of the atom, then a fixed tree.
// Traffic  up to 44 bytes an edge, 16 of them at the reverse edge, from L2; memory bound. No
//          atomics.
// Result   the same for waves of 32 and 64.
// Source   own.
// Oracle   neighbour_list_grad_ref, lib/ops/neighbours/neighbour_list_grad_ref.cpp.
#include "lib/ops/neighbours/neighbour_list_grad.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_lanes.hpp"

namespace biogpu::gpu::ops {
namespace {

struct PositionGrad {
  const std::int32_t *starts, *reverse;
  const float *displacement, *distance;
  const float *d_distance, *d_displacement;  // or null
  float* d_positions;
  std::int64_t n_atoms;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void neighbour_list_grad_kernel(PositionGrad p) {
  const std::int64_t i = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = i < p.n_atoms;  // all lanes take part in the exchange
  const std::int64_t begin = live ? p.starts[i] : 0, end = live ? p.starts[i + 1] : 0;
  float sum[3] = {};
  for (std::int64_t e = begin + lane; e < end; e += kLanes) {
    const std::int64_t reverse = p.reverse[e];
    if (reverse == e) continue;  // the atom itself
    const float distance = p.distance[e];
    const bool has_direction = p.d_distance != nullptr && distance > 0;
    const float along = has_direction ? (p.d_distance[e] + p.d_distance[reverse]) / distance : 0.0f;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      sum[a] += along * p.displacement[3 * e + a];
      if (p.d_displacement != nullptr)
        sum[a] += p.d_displacement[3 * e + a] - p.d_displacement[3 * reverse + a];
    }
  }
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    const float total = sum_of_lanes<kWave>(sum[a]);
    if (live && lane == a) p.d_positions[3 * i + a] = total;
  }
}

}  // namespace

void neighbour_list_grad(Device& device, const biogpu::ops::NeighbourListGrad& op) {
  const PositionGrad p{op.edges->starts.as<std::int32_t>(), op.edges->reverse.as<std::int32_t>(),
                       op.edges->displacement.as<float>(),  op.edges->distance.as<float>(),
                       op.d_distance.as<float>(),           op.d_displacement.as<float>(),
                       op.d_positions.as<float>(),          op.d_positions.shape[0]};
  launch_rows(device.stream(), neighbour_list_grad_kernel<32>, neighbour_list_grad_kernel<64>,
              p.n_atoms, p);
}

}  // namespace biogpu::gpu::ops
