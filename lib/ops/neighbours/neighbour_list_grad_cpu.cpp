#include "lib/ops/neighbours/neighbour_list_grad.hpp"

#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::ops {
namespace {

// 4 to 7 numbers an edge, in scattered pairs: bound by their loads, not by arithmetic.
void grad_of_position(const NeighbourListGrad& op, std::int64_t i) {
  const Edges& edges = *op.edges;
  const auto* const starts = edges.starts.as<std::int32_t>();
  const float *const d_distance = op.d_distance.as<float>(), *const d_displacement =
                                                                 op.d_displacement.as<float>();
  float sum[3] = {};
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const std::int64_t reverse = edges.reverse.as<std::int32_t>()[e];
    if (reverse == e) continue;  // the atom itself
    const float distance = edges.distance.as<float>()[e];
    const float along = d_distance != nullptr && distance > 0
                            ? (d_distance[e] + d_distance[reverse]) / distance
                            : 0;
    for (std::int64_t a = 0; a < 3; ++a) {
      sum[a] += along * edges.displacement.as<float>()[3 * e + a];
      if (d_displacement != nullptr)
        sum[a] += d_displacement[3 * e + a] - d_displacement[3 * reverse + a];
    }
  }
  for (std::int64_t a = 0; a < 3; ++a) op.d_positions.row<float>(i)[a] = sum[a];
}

}  // namespace

void neighbour_list_grad_cpu(CpuContext& context, const NeighbourListGrad& op) {
  context.for_rows(op.d_positions.shape[0], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) grad_of_position(op, i);
  });
}

}  // namespace biogpu::ops
