#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// What positions get back from the distances and displacements of neighbour_list. With
// g[e] = d_displacement[e] + d_distance[e] r / |r| of edge e's displacement r (0 where r is):
//   d_positions[i] = sum over the edges e of atom i of g[e] - g[reverse[e]]
// Forces are its negative where the gradients are an energy's.
struct NeighbourListGrad {
  const Edges* edges = nullptr;
  Tensor d_distance;      // f32 [capacity], or empty
  Tensor d_displacement;  // f32 [capacity, 3], contiguous, or empty
  Tensor d_positions;     // f32 [T, 3], contiguous
};
BIOGPU_DECLARE_OP(neighbour_list_grad, NeighbourListGrad);

}  // namespace biogpu::ops
