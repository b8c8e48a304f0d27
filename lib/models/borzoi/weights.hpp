#pragma once

#include <vector>

#include "lib/models/borzoi/config.hpp"
#include "lib/models/layers/conv_block.hpp"
#include "lib/models/layers/dna_transformer.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::borzoi {

// One step of the U-Net back to more rows: y = across(skip) + repeat(up(x)), then the separable
// convolution of y.
struct UpBlock {
  ConvBlock across;          // of the convolution that had these rows
  ConvBlock up;              // of the rows that become two each
  tensor::Tensor depthwise;  // f32 [taps, width]
  tensor::Linear pointwise;
};

struct Weights {
  LetterConv letters;            // without a normalisation
  std::vector<ConvBlock> tower;  // the others, a pool by two before each
  std::vector<DnaTransformerBlock> blocks;
  std::vector<UpBlock> ups;      // by rows, the most first
  ConvBlock last;                // to the embedding
  std::vector<HeadLayer> heads;  // as they were chosen
};

DnaTransformerShape transformer_shape(const Config& config);

// The weights of a checkpoint with borzoi-pytorch's names. Throws Error{bad_input} with one message
// for all that is missing or does not fit.
Weights read_weights(const Config& config, const std::vector<HeadChoice>& heads,
                     tensor::WeightTable& table, tensor::Context& context);

}  // namespace biogpu::models::borzoi
