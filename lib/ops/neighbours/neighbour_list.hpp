#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// Every ordered pair (i, j) of atoms of one molecule with cutoff_lower <= |r| < cutoff_upper,
// compared as squares, r = x_i - x_j, and where asked for each atom with itself, for
// any cutoff_lower. Atoms past the end of the last molecule have no pairs. Every step is rounded,
// so that all contexts find the same pairs and the same bytes.
//
// In a box the nearest image: r is found by taking off whole multiples of c for
// z, then of b for y, then of a for x, which is the nearest one where ax, by, cz >= 2 cutoff_upper
// and the box is reduced (torchmd-net's rule).
//
// With all_images, every image in a box, those of the atom itself too: r = x_i - (x_j + shift *
// box) in double precision, rounded when it is written. Positions are finite, and boxes at least
// 1/64 as wide as the cutoff (require_images()).
//
// Where edges has starts and count alone, pairs are counted only; else its capacity holds.
struct NeighbourList {
  Tensor positions;                  // f32 [T, 3]; f64 with all_images
  const Ragged* segments = nullptr;  // atoms of each molecule
  // Of the type of positions, [n_segments, 9]: a, b, c; 9 zeros: none. Or empty: none at all. Boxes
  // are (ax, 0, 0), (bx, by, 0), (cx, cy, cz); with all_images any.
  Tensor boxes;
  double cutoff_lower = 0;
  double cutoff_upper = 0;
  bool self_pairs = false;
  Edges edges;
  bool all_images = false;
};
BIOGPU_DECLARE_OP(neighbour_list, NeighbourList);

}  // namespace biogpu::ops
