#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace biogpu::models::tensornet {

// Limits of passes. Results do not depend on them.
struct PassLimits {
  // Edges of a pass with more than one system: half a gigabyte a tensor of 128 channels.
  std::int64_t edges = std::int64_t{1} << 18;
  // Atoms of more than one system whose edges a device counts at a time.
  std::size_t counted_atoms = std::size_t{1} << 16;
  // Neighbours of an atom to expect where a device lists edges: its time grows with their square.
  double neighbours = 4096;
};

// How the systems of a call are cut into passes whose edges a device lists. It is kept for calls
// with systems of the same sizes, such as steps of dynamics: these need not count edges first.
struct ListPlan {
  struct Part {
    std::size_t n_systems;
    std::int64_t capacity;  // of edges
  };

  ListPlan() = default;
  // As many systems a part as max_edges allows, or one. starts: [systems + 1] of atoms, [T + 1] of
  // each atom's edges.
  ListPlan(const std::vector<std::int32_t>& starts, const std::vector<std::int32_t>& edge_starts,
           std::int64_t max_edges);

  // Whether systems with n_edges edges in all have more than twice the parts that they need.
  bool is_too_fine(std::int64_t n_edges, std::int64_t max_edges) const;

  std::vector<std::int32_t> atom_starts;
  std::vector<Part> parts;
};

}  // namespace biogpu::models::tensornet
