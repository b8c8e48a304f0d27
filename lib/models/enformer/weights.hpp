#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/enformer/config.hpp"
#include "lib/models/layers/conv_block.hpp"
#include "lib/models/layers/dna_transformer.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::enformer {

// x = widen(x); x += pointwise(x); pool. The stem widens letters, without a normalisation.
struct TowerBlock {
  ConvBlock widen;
  ConvBlock pointwise;
  tensor::Linear pool;  // logits of the softmax of two, without a bias
};

struct Weights {
  LetterConv letters;  // the stem's first convolution
  TowerBlock stem;     // `widen` is empty
  std::vector<TowerBlock> tower;
  std::vector<DnaTransformerBlock> blocks;
  ConvBlock last;                // to the embedding
  std::vector<HeadLayer> heads;  // as they were chosen
  GammaForm gamma = GammaForm::features;
  // Nothing says which form the weights were trained with, and the official ones have this shape.
  bool gamma_is_guess = false;
};

DnaTransformerShape transformer_shape(const Config& config);

struct WeightOptions {
  std::vector<HeadChoice> heads;
  std::optional<GammaForm> gamma;  // instead of what config and folder say
};

// The weights of a checkpoint, which may hold the trunk under the second name that enformer-pytorch
// gives its parts (_trunk.N.), and the table `gamma_position_basis`. Throws Error{bad_input} with
// one message for all that is missing or does not fit.
Weights read_weights(const Config& config, const WeightOptions& options, tensor::WeightTable& table,
                     tensor::Context& context);

}  // namespace biogpu::models::enformer
