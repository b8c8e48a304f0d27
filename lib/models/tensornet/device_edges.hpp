#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/pass.hpp"
#include "lib/models/tensornet/graph.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::models::tensornet {

// Neighbours of an atom, images of it among them, in a box whose atoms are spread evenly; without a
// box 0. About the length of a row of edges.
double expected_neighbours(const AtomSystem& system, double cutoff);

// Atoms of a batch whose edges the context lists: the same edges in the same order as a Graph of
// them, in fp32.
class DeviceEdges {
 public:
  // Edges and, by a list() later, what they are listed from.
  struct Uploaded {
    tensor::Tensor positions, boxes;  // f64 [T, 3], [systems, 9]
    tensor::Ragged segments;
    ops::Edges edges;
  };

  DeviceEdges() = default;
  // Throws Error{bad_input} where a system's box or positions do not fit.
  DeviceEdges(std::span<const AtomSystem> systems, const EdgeRule& rule);

  const std::vector<std::int32_t>& atom_starts() const { return atom_starts_; }
  std::int64_t n_atoms() const { return atom_starts_.back(); }

  // With room for that many edges; or for 0, to count them. The pass has the outputs that count()
  // reads, and without room those that starts() reads.
  Uploaded upload(Pass& pass, std::int64_t capacity) const;
  // Queues the operation, within Pass::run().
  void list(Pass& pass, const Uploaded& to) const;

  // Edges that were found; more than the capacity where results are void. Throws Error{bad_input}
  // where 32 bits cannot count them.
  static std::int64_t count(const Outputs& outputs);
  // [T + 1], of each atom's edges.
  static std::vector<std::int32_t> starts(const Outputs& outputs);

 private:
  EdgeRule rule_;
  std::vector<std::int32_t> atom_starts_{0};
  std::vector<double> positions_, boxes_;  // boxes: empty where no system has one
};

}  // namespace biogpu::models::tensornet
