#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::models::tensornet {

// Atoms of a batch and their edges (lib/ops/neighbours/edges.hpp) on the host. Displacements come
// from positions in double precision, so that what fp32 loses does not grow with the coordinates.
struct Graph {
  std::vector<std::int32_t> atom_starts{0};  // [systems + 1]
  std::vector<std::int32_t> edge_starts{0};  // [atoms + 1]
  std::vector<std::int32_t> receivers, neighbours, reverse;
  std::vector<double> displacement, distance;  // [edges, 3], [edges]

  std::int64_t n_atoms() const { return atom_starts.back(); }
  std::int64_t n_edges() const { return edge_starts.back(); }
};

struct EdgeRule {
  double lower = 0, upper = 0;  // lower <= distance < upper
  bool self_edges = false;      // of each atom with itself, at distance 0
};

// Throws Error{bad_input} where a list of pairs is not of the system, of less than the rule's
// edges, or not sorted.
void check_pairs(const AtomSystem& system, const PairList& pairs, const EdgeRule& rule);

// Adds a system's atoms and edges. Throws Error{bad_input} where its box or pairs do not fit.
void add_system(const AtomSystem& system, const EdgeRule& rule, Graph& graph);

}  // namespace biogpu::models::tensornet
