#pragma once

#include <cstdint>

#include "lib/models/proteinmpnn/ops/declare.hpp"

namespace biogpu::models::proteinmpnn {

// Edges of a graph of points in space (Ingraham et al. 2019, Generative models for graph-based
// protein design; Dauparas et al. 2022, doi 10.1126/science.add2187):
//   x = [radial functions of each pair's distance, orientation]
//   normalised = LayerNorm(x W_features^T + positions[class])
//   out = normalised W^T + b
// A distance, sqrt(|a - b|^2 + 1e-6) but for the first pair's, which is given, becomes 16 functions
// exp(-((distance - mu) / 1.25)^2), mu from 2 to 22. class: 0 to 64 by the difference of the
// numbers of both ends, cut at 32 to both sides, in one chain, else 65. orientation: the direction
// to the other end in the axes of this one, and the rotation between both axes as a quaternion.
struct EdgeEmbed {
  static constexpr int kBasis = 16;       // functions of a distance
  static constexpr int kOrientation = 7;  // numbers
  static constexpr int kMaxPairs = 25;    // on GPUs
  static constexpr int kMaxOffset = 32;   // of positions
  static constexpr int kClasses = 2 * kMaxOffset + 2;

  Tensor points;           // f32 [T, P, 3], contiguous; point 1 is the one of orientations
  Tensor frames;           // f32 [T, 9], three axes; or empty: no orientation
  Tensor numbers, chains;  // i32 [T]
  Tensor rows, distances;  // i32, f32 [T, K]: of NearestRows
  Tensor counts;           // i32 [T]
  const std::uint8_t (*pairs)[2] = nullptr;  // on the host: points of this end and the other
  int n_pairs = 0;
  const Linear* features = nullptr;  // [d, 16 n_pairs, or 7 more], BlockUse::edges, without a bias
  Tensor positions;                  // f32 [kClasses, d]
  Norm norm;
  Tensor normalised;               // f32 [T, K, d] or empty
  const Linear* linear = nullptr;  // [d, d], BlockUse::edges
  Tensor out;                      // f32 [T, K, d]
};
BIOGPU_DECLARE_OP(edge_embed, EdgeEmbed);
void check(const EdgeEmbed& op);

}  // namespace biogpu::models::proteinmpnn
