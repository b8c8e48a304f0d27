#pragma once

#include "lib/models/proteinmpnn/network/batch.hpp"
#include "lib/models/proteinmpnn/network/weights.hpp"

namespace biogpu::models::proteinmpnn {

// What the encoder leaves for a pass.
struct Encoded {
  Tensor rows, distances;  // i32, f32 [R, K]: neighbours
  Tensor counts;           // i32 [R]
  Tensor features;         // f32 [R, K, d], where they are asked for
  Tensor h;                // f32 [R, d]
  Tensor edges;            // f32 [R, K, d]
  Tensor decoder_edges;    // f32 [R, K, kLayers d]
  Tensor node_proj;        // f32 [R + S, kNodeProj]
};

// Memory for it. tapped: features, h and edges are outputs.
Encoded take_encoded(Pass& pass, const Batch& batch, std::int64_t n_neighbours, bool tapped);
void encode(Pass& pass, const Info& info, const Weights& weights, const BatchInputs& in,
            const Encoded& out);
// Outputs drawn [states], probabilities [states, letters], and log_probabilities of those states.
void decode_samples(Pass& pass, const Weights& weights, const Batch& batch, const BatchInputs& in,
                    const Encoded& encoded);
// log_probabilities of the states behind them.
void score(Pass& pass, const Weights& weights, const Batch& batch, const BatchInputs& in,
           const Encoded& encoded);

inline constexpr char kDrawn[] = "drawn", kProbabilities[] = "probabilities",
                      kLogProbabilities[] = "log_probabilities", kDistances[] = "distances",
                      kFeatures[] = "features", kResidues[] = "residues", kEdges[] = "edges";

}  // namespace biogpu::models::proteinmpnn
