#include "lib/ops/neighbours/neighbour_list_grad.hpp"

#include <vector>

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

// By the definition: each edge hands its gradient to its two atoms, without the reverse edges.
template <class T>
void grad_of_positions(const NeighbourListGrad& op) {
  const Edges& edges = *op.edges;
  std::vector<double> d_positions(static_cast<std::size_t>(op.d_positions.size()));
  for (std::int64_t e = 0; e < edges.starts.as<std::int32_t>()[edges.n_atoms()]; ++e)
    for (std::int64_t a = 0; a < 3; ++a) {
      const double distance = edges.distance.as<T>()[e];
      double g = op.d_displacement.empty() ? 0 : op.d_displacement.as<T>()[3 * e + a];
      if (!op.d_distance.empty() && distance > 0)
        g += static_cast<double>(op.d_distance.as<T>()[e]) *
             static_cast<double>(edges.displacement.as<T>()[3 * e + a]) / distance;
      const std::int64_t i = edges.receivers.as<std::int32_t>()[e],
                         j = edges.neighbours.as<std::int32_t>()[e];
      d_positions[static_cast<std::size_t>(3 * i + a)] += g;
      d_positions[static_cast<std::size_t>(3 * j + a)] -= g;
    }
  for (std::size_t k = 0; k < d_positions.size(); ++k)
    op.d_positions.as<T>()[k] = static_cast<T>(d_positions[k]);
}

}  // namespace

void neighbour_list_grad_ref(const NeighbourListGrad& op) {
  reference::with_real(op.d_positions, [&](auto real) { grad_of_positions<decltype(real)>(op); });
}

}  // namespace biogpu::ops
