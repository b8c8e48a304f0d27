#pragma once

#include <cstdint>

#include "gpu/models/proteinmpnn/model.hpp"

namespace biogpu::gpu::proteinmpnn {

// The structure that a residue belongs to.
struct Place {
  std::int32_t first = 0;  // row of its first residue
  std::int32_t n = 0;      // residues
};

// Structures one behind the other, a row for each residue, in device memory; not owned.
struct Structures {
  std::int64_t n_rows = 0;
  int n_neighbours = 0;           // of a residue, where the structure has as many
  int n_points = 0;               // of a residue; point 1 is its CA atom
  const Place* places = nullptr;  // [rows]
  const float* points = nullptr;  // [rows][n_points][3]
  const float* frames = nullptr;  // [rows][9], axes; models of CA atoms only
  const std::uint8_t* present = nullptr;
  const std::int32_t* index = nullptr;
  const std::int32_t* chain = nullptr;
  std::int32_t* neighbours = nullptr;  // [rows][kMaxNeighbours] rows
  float* distances = nullptr;          // [rows][kMaxNeighbours]
};

// What the encoder makes of them. Numbers of edges are [rows][kMaxNeighbours][kHidden], of which a
// residue with fewer neighbours uses the first.
struct Encoded {
  float* h = nullptr;                  // [rows][kHidden]
  float* edges = nullptr;              // the encoder's own
  float* decoder_edges[kLayers] = {};  // what an edge adds to a message of the decoder
  float* receiver = nullptr;           // [rows][kHidden], of layer 0
  float* neighbour[kLayers] = {};      // [rows][kHidden], while not decoded
  float* residue_ends[2] = {};         // [rows][2 * kHidden], of layers in turn
  float* edge_ends = nullptr;          // [rows][2 * kHidden]
};

}  // namespace biogpu::gpu::proteinmpnn
