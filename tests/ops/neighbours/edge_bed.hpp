#pragma once

// Molecules and their edges for tests of operations on atoms.

#include <bit>
#include <cstdint>
#include <vector>

#include "lib/ops/neighbours/edges.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"
#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

// A box that is reduced: its vectors a, b, c one after the other.
inline const std::vector<float> kBox{12, 0, 0, 3, 11, 0, -4, 2, 13};

inline std::vector<std::int32_t> fetch_integers(Context& context, const Tensor& tensor) {
  std::vector<float> bits(static_cast<std::size_t>(tensor.size()));
  const std::int64_t n = tensor.size();
  if (n > 0) context.copy_out(bits.data(), Tensor(tensor.data, DType::f32, {n, 1}));
  context.synchronize();
  std::vector<std::int32_t> values;
  for (const float number : bits) values.push_back(std::bit_cast<std::int32_t>(number));
  return values;
}

// Memory for edges that lives as long as its context.
inline ops::Edges make_edges(Context& context, std::int64_t n_atoms, std::int64_t capacity) {
  const auto bytes = static_cast<std::size_t>(4 * n_atoms + 28 * capacity) + 8192;
  tensor::Arena arena(context.allocate(bytes), bytes);
  return ops::take_edges(arena, n_atoms, capacity);
}

// Molecules of random atoms, about `side` wide, the same in both contexts.
struct Molecules {
  RaggedPair segments;
  Pair positions, boxes;
  std::int64_t n_atoms() const { return positions.host.shape[0]; }
};

inline Molecules make_molecules(Bed& bed, const std::vector<std::int32_t>& lengths, float side,
                                std::vector<float> boxes = {}) {
  Molecules made;
  made.segments = bed.segments(lengths);
  made.positions = bed.random({made.segments.host.n_rows, 3}, side / 3, false);
  if (!boxes.empty())
    made.boxes = bed.pair({static_cast<std::int64_t>(lengths.size()), 9}, boxes, false);
  return made;
}

struct EdgesPair {
  ops::Edges host, device;
};

// The list of both contexts; extra: pads behind the edges.
inline EdgesPair list_edges(Bed& bed, const Molecules& m, float cutoff, bool self_pairs,
                            std::int64_t extra = 0) {
  ops::NeighbourList host{m.positions.host,
                          &m.segments.host,
                          m.boxes.host,
                          0,
                          cutoff,
                          self_pairs,
                          make_edges(bed.reference(), m.n_atoms(), 0)};
  host.edges.neighbours = {};
  ops::neighbour_list(bed.reference(), host);
  const std::int64_t n = ops::read_edge_count(bed.reference(), host.edges) + extra;
  host.edges = make_edges(bed.reference(), m.n_atoms(), n);
  ops::neighbour_list(bed.reference(), host);
  const ops::NeighbourList device{m.positions.device,
                                  &m.segments.device,
                                  m.boxes.device,
                                  0,
                                  cutoff,
                                  self_pairs,
                                  make_edges(bed.device(), m.n_atoms(), n)};
  ops::neighbour_list(bed.device(), device);
  return {host.edges, device.edges};
}

}  // namespace biogpu::test
