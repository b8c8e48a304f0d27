#pragma once

#include <cstdint>

namespace biogpu::gpu::proteinmpnn {

inline constexpr int kHidden = 128;
inline constexpr int kInner = 4 * kHidden;
inline constexpr int kLetters = 21;
inline constexpr int kLayers = 3;
inline constexpr int kMaxNeighbours = 48;  // rows of an edge array for each residue
inline constexpr int kBasis = 16;          // radial functions of a distance
inline constexpr int kMaxPairs = 25;

// Weights in device memory; not owned.

// For many rows at once: [kHidden, n_in] as launch_pack() writes it.
struct Product {
  const std::uint32_t* words = nullptr;
  const float* bias = nullptr;  // [kHidden], or not given
  int n_steps = 0;              // of 16 inputs
};

// For one row: [n_in / 4][n_out][4], so that neighbouring threads read neighbouring outputs.
struct Columns {
  const float* weight = nullptr;
  const float* bias = nullptr;  // [n_out]
};

struct Norm {
  const float* weight = nullptr;
  const float* bias = nullptr;
};

// From summed messages to a residue's new state. last.bias counts once for each summed message.
struct Update {
  Columns last, in, out;
  Norm before, after;
};

struct EncoderLayer {
  Product edge, middle;  // of messages to residues
  Update update;
  Columns edge_ends;  // [2 * kHidden]: of a residue as receiver and as neighbour
  Product edge_edge, edge_middle, edge_last;
  Norm edge_norm;
  Columns next_ends;  // of the next layer's messages to residues; none after the last layer
};

struct DecoderLayer {
  Product edge, middle;
  Update update;
  Columns ends;
  const float* letters = nullptr;  // [kLetters][kHidden]
};

struct DecoderWeights {
  DecoderLayer layer[kLayers];
  const float* logits = nullptr;  // [kLetters][kHidden]
  const float* logit_bias = nullptr;
};

}  // namespace biogpu::gpu::proteinmpnn
