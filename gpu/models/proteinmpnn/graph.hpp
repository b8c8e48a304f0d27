#pragma once

#include <cstdint>

#include "gpu/models/proteinmpnn/structures.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::proteinmpnn {

// Fills neighbours and distances: the n_neighbours nearest residues of the same structure, itself
// first, by the distance of CA atoms, ties to the lower row; residues that are not present come
// last. Rows behind a structure's size repeat the residue itself.
void launch_neighbours(const Structures& structures, Stream& stream);

// Features of edges, and the state before the first layer of the encoder.
struct FeatureArgs {
  Structures structures;
  std::uint8_t pairs[kMaxPairs][2] = {};  // points of receiver and neighbour; the first is given
  int n_pairs = 0;
  bool has_orientation = false;  // 7 numbers more, of models of CA atoms only
  Product features;
  const float* positions = nullptr;  // [66][kHidden]
  Norm norm;
  Product edges;
  const float* first_bias = nullptr;  // [2 * kHidden] ends of a residue whose state is 0
  Encoded out;                        // h, edges and residue_ends[0] are written
  float* taps = nullptr;              // normalised features, like edges; or none
};
void launch_features(const FeatureArgs& args, Stream& stream);

}  // namespace biogpu::gpu::proteinmpnn
