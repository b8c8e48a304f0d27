#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// Every ordered pair (i, j) of atoms of one molecule with cutoff_lower <= |r| < cutoff_upper,
// compared as squares, r = x_i - x_j, and where asked for each atom with itself, for
// any cutoff_lower. With a box, r is the image that is found by taking off whole multiples of c for
// z, then of b for y, then of a for x: the nearest one where ax, by, cz >= 2 cutoff_upper and the
// box is reduced (torchmd-net's rule). Every step is rounded to fp32, so that all contexts find the
// same pairs and the same bytes. Atoms past the end of the last molecule have no pairs.
//
// Where edges has starts and count alone, pairs are counted only; else its capacity holds.
struct NeighbourList {
  Tensor positions;                  // f32 [T, 3]
  const Ragged* segments = nullptr;  // atoms of each molecule
  Tensor boxes;                      // f32 [n_segments, 9]: a, b, c = (ax, 0, 0), (bx, by, 0),
                                     // (cx, cy, cz); 9 zeros: none. Or empty: none at all.
  float cutoff_lower = 0;
  float cutoff_upper = 0;
  bool self_pairs = false;
  Edges edges;
};
BIOGPU_DECLARE_OP(neighbour_list, NeighbourList);

}  // namespace biogpu::ops
