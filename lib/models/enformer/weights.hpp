#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/enformer/config.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::enformer {

// Batch normalisation of inference as it is applied: x * scale + shift, by channel.
struct Affine {
  tensor::Tensor scale;  // f32 [channels]
  tensor::Tensor shift;  // f32 [channels]
};

// Normalisation, GELU and a convolution of what comes out.
struct ConvBlock {
  Affine norm;
  tensor::Linear conv;  // n_in: taps times channels
};

// x = widen(x); x += pointwise(x); pool. The stem widens letters, without a normalisation.
struct TowerBlock {
  ConvBlock widen;
  ConvBlock pointwise;
  tensor::Linear pool;  // logits of the softmax of two, without a bias
};

struct AttentionBlock {
  tensor::Norm attention_norm;
  tensor::Linear qkv;            // q scaled by 1 / sqrt(d_key); no bias
  tensor::Tensor content_bias;   // f32 [heads, d_key]
  tensor::Tensor position_bias;  // f32 [heads, d_key]
  tensor::Tensor relative;       // operand [heads, 2 positions - 1, d_key]
  tensor::Linear attention_out;
  tensor::Norm ffn_norm;
  tensor::Linear ffn_up, ffn_down;
};

struct Weights {
  tensor::Tensor letter_table;  // f32 [taps, codes, channels]: the stem's first convolution
  tensor::Tensor letter_bias;   // f32 [channels]
  TowerBlock stem;              // `widen` is empty
  std::vector<TowerBlock> tower;
  std::vector<AttentionBlock> blocks;
  ConvBlock last;                     // to the embedding
  std::vector<tensor::Linear> heads;  // as they were chosen
  GammaForm gamma = GammaForm::features;
  // Nothing says which form the weights were trained with, and the official ones have this shape.
  bool gamma_is_guess = false;
};

inline constexpr std::int64_t kLetterTaps = 15;
inline constexpr std::int64_t kTowerTaps = 5;

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
