#pragma once

#include <cstdint>
#include <string>

#include "lib/models/base/model_config.hpp"
#include "lib/models/proteinmpnn/ops/decode.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::proteinmpnn {

// What config.json says of a model.
struct Info {
  std::int64_t n_neighbours = 48;
  bool ca_only = false;
  double noise_level = 0;  // of training, Angstrom
  std::string name;        // "v_48_020"
};
// Errors: those of ModelConfig.
Info read_info(const ModelConfig& config);

// Weights of a message network, its first layer cut by what it multiplies
// (docs/models/proteinmpnn.md): per edge once, per residue once. The sum over edges is taken before
// the last layer, which is linear.
struct MessageMaps {
  Linear node_proj;  // [2 d] of a residue as receiver (with the bias) and as sender
  Linear edge, middle, last;
};

struct FeedForward {
  tensor::Norm before, after;
  Linear in, out;
};

struct EncoderWeights {
  MessageMaps message;  // to residues
  FeedForward residue;
  MessageMaps update;  // of edges
  tensor::Norm edge_norm;
};

struct DecoderWeights {
  MessageMaps message;  // without `edge`; layer 0 without `node_proj`
  FeedForward residue;
  Tensor letters;  // f32 [kLetterCount, 2 d]: what a sender's letter adds, behind zeros
};

struct Weights {
  Weights() = default;
  Weights(const Weights&) = delete;  // operations point to its maps
  Weights& operator=(const Weights&) = delete;

  Tensor positions;  // f32 [66, d]: what relative positions add to an edge
  Linear features;   // distances and orientation to an edge
  tensor::Norm feature_norm;
  Linear edges;
  EncoderWeights encoder[kLayers];
  Linear decoder_edges;      // [kLayers d, d]
  Linear decoder_node_proj;  // [kNodeProj, d]
  DecoderWeights decoder[kLayers];
  Linear logits;
  Tensor logit_weight, logit_bias;  // f32
};

// Reads all, and tells what is wrong in one error. Errors: those of WeightTable.
void read_weights(tensor::Context& context, tensor::WeightTable& table, const Info& info,
                  Weights& weights);

// As operations take it.
inline NodeUpdate update_of(const MessageMaps& message, const FeedForward& residue) {
  return {&message.last, &residue.in, &residue.out, residue.before, residue.after};
}

}  // namespace biogpu::models::proteinmpnn
