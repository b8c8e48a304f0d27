#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::tensor {
class Arena;
}
namespace biogpu::ops {

// Pairs of atoms within a cutoff: edges of a graph, sorted by the atom that receives, then by
// its neighbour, and then by the shift of that neighbour's image. Atom i has edges [starts[i],
// starts[i + 1]). How many there are is known on the device alone: tensors have room for `capacity`
// edges, of which the first `count` are edges. The others are pads: they name atom 0 and the
// distance 0, belong to no atom, and operations may leave anything in their rows. Where count is
// more than the capacity, starts ends at the capacity, so that nothing is read or written past the
// end, and results are void.
struct Edges {
  Tensor starts;        // i32 [T + 1]
  Tensor count;         // i32 [1], INT32_MAX where there are more
  Tensor receivers;     // i32 [capacity]
  Tensor neighbours;    // i32 [capacity]
  Tensor reverse;       // i32 [capacity], the edge of the same pair the other way round
  Tensor displacement;  // f32 [capacity, 3], of the receiver from its neighbour
  Tensor distance;      // f32 [capacity]
  // i32 [capacity], numbers of images: of a list with all images alone, which sorts by them; else
  // empty
  Tensor images;

  std::int64_t n_atoms() const { return starts.shape[0] - 1; }
  std::int64_t capacity() const { return neighbours.empty() ? 0 : neighbours.shape[0]; }
};

// starts and count alone: for an operation that counts.
Edges take_edge_counts(tensor::Arena& arena, std::int64_t n_atoms);
Edges take_edges(tensor::Arena& arena, std::int64_t n_atoms, std::int64_t capacity,
                 bool all_images = false);

// Room for n edges with some to spare, of few different sizes, so that passes of about equal
// numbers of edges share memory and a captured graph: eight sizes per doubling.
std::int64_t edge_capacity(std::int64_t n);

// Waits for the context and gives the number that an operation counted; 0 in a dry run. Throws
// Error{bad_input} where an index of 32 bits cannot count them.
std::int64_t read_edge_count(Context& context, const Edges& edges);
// The same of a number that was read already.
std::int64_t checked_edge_count(std::int32_t count);

}  // namespace biogpu::ops
