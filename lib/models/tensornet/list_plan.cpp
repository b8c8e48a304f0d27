#include "lib/models/tensornet/list_plan.hpp"

#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::models::tensornet {

ListPlan::ListPlan(const std::vector<std::int32_t>& starts,
                   const std::vector<std::int32_t>& edge_starts, std::int64_t max_edges)
    : atom_starts(starts) {
  const auto edges_before = [&](std::size_t system) -> std::int64_t {
    return edge_starts[static_cast<std::size_t>(starts[system])];
  };
  const std::size_t n_systems = starts.size() - 1;
  for (std::size_t first = 0; first < n_systems;) {
    std::size_t end = first + 1;
    while (end < n_systems && edges_before(end + 1) - edges_before(first) <= max_edges) ++end;
    parts.push_back({end - first, ops::edge_capacity(edges_before(end) - edges_before(first))});
    first = end;
  }
}

bool ListPlan::is_too_fine(std::int64_t n_edges, std::int64_t max_edges) const {
  // Two parts that follow each other have more than max_edges when they are planned.
  return parts.size() > 1 && 2 * n_edges <= max_edges * static_cast<std::int64_t>(parts.size() / 2);
}

}  // namespace biogpu::models::tensornet
