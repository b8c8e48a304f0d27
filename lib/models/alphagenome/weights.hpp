#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/alphagenome/config.hpp"
#include "lib/models/alphagenome/junctions.hpp"
#include "lib/models/layers/conv_block.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::alphagenome {

// y = block1(x) + x with zeros for new channels; y += block2(y); then a pooling of two rows.
struct DownBlock {
  ConvBlock block1, block2;
};

// x = conv_in(x) + the first channels of x, repeated twice and scaled, plus skip's; x +=
// conv_out(x).
struct UpBlock {
  ConvBlock conv_in, skip, conv_out;
  float residual_scale = 1;
};

struct PairUpdate {
  tensor::Norm input_norm;              // RMS
  tensor::Linear query, key;            // [pair heads * pair head, width]
  tensor::Tensor query_bias, key_bias;  // f32 [pair heads, pair head]: of relative positions
  tensor::Linear positions;             // [pair heads * pair head, position features]
  tensor::Linear heads;                 // [pair channels, pair heads]
  tensor::Linear sides;    // [2 pair channels, width]: of the query's side, of the key's
  tensor::Norm row_norm;   // RMS
  tensor::Linear row_qkv;  // [3 pair channels, pair channels], scaled
  tensor::Norm mlp_norm;   // RMS
  tensor::Linear mlp_up, mlp_down;
};

struct TowerBlock {
  std::optional<PairUpdate> pair_update;  // of even blocks
  Affine bias_norm;
  tensor::Linear bias;       // [heads, pair channels]
  tensor::Linear query;      // of the normalised x: [heads * d_key, width]
  tensor::Linear key_value;  // [d_key + d_value, width]
  tensor::Norm query_norm, key_norm, value_norm;
  tensor::Linear attention_out;     // the norm behind it is in it
  tensor::Linear ffn_up, ffn_down;  // and both norms of the feed-forward part
};

struct Weights {
  LetterConv letters;
  ConvBlock first;  // behind it
  std::vector<DownBlock> down;
  tensor::Tensor organism;  // f32 [width], or empty
  std::vector<TowerBlock> tower;
  std::vector<UpBlock> up;
  tensor::Linear coarse_project;             // to activations of embeddings of coarse bins
  tensor::Linear fine_project, fine_skip;    // bias of fine_project: both maps' and what follows
  tensor::Norm pair_norm;                    // RMS; the organism's embedding is in its bias
  std::vector<HeadLayer> heads;              // as they were chosen
  std::optional<JunctionWeights> junctions;  // where that head was chosen
  tensor::Tensor rotary;  // f32 [kMaxPositions, d_key]: lib/ops/attention/rotate_heads.hpp
};

// What of a model is read: the rows of one organism, and of heads what was chosen of all_heads().
struct WeightOptions {
  std::int64_t organism = 0;
  std::vector<HeadChoice> heads;
};

// Throws Error{bad_input} with one message for all that is missing or does not fit.
Weights read_weights(const Config& config, const WeightOptions& options, tensor::WeightTable& table,
                     tensor::Context& context);

}  // namespace biogpu::models::alphagenome
