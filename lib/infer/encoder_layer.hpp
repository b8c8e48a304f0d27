#pragma once

#include <cstdint>
#include <string>

#include "lib/infer/model_config.hpp"
#include "lib/nn/backend.hpp"
#include "lib/nn/weights/weight_table.hpp"

namespace biogpu::infer {

// What the families of BERT share: the parts of a block of the encoder. Where its normalisations
// stand is the model's own. (Devlin et al. 2019, doi 10.18653/v1/N19-1423)

struct EncoderShape {
  std::int64_t n_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t n_heads = 0;
  std::int64_t d_feed = 0;
  float eps = 0;  // of normalisations

  std::int64_t d_head() const { return d_model / n_heads; }
};

// Throws Error{bad_input} for heads that attention cannot take and for an eps that is none. eps:
// where config.json has none.
EncoderShape read_encoder_shape(const ModelConfig& config, double eps);

struct EncoderLayer {
  nn::Linear qkv;
  nn::Linear attention_out;
  nn::Norm attention_norm;
  nn::Linear feed_up;
  nn::Linear feed_down;
  nn::Norm feed_norm;
};

// What differs in how a checkpoint holds a layer.
struct EncoderLayerForm {
  const char* attention_norm;  // names behind "encoder.layer.N."
  const char* feed_norm;
  float q_scale;  // put into the weight and the bias of q
};

// Throws Error{bad_input} where the weights have not as many.
std::vector<EncoderLayer> read_encoder_layers(nn::Backend& backend, nn::WeightTable& table,
                                              const ModelConfig& config, const EncoderShape& shape,
                                              const EncoderLayerForm& form);

// Views [T, H, h] of what a layer's qkv gave, operand [T, 3 d].
struct Qkv {
  nn::Tensor q;
  nn::Tensor k;
  nn::Tensor v;
};
Qkv split_qkv(const nn::Tensor& qkv, std::int64_t n_heads);

// x += the feed-forward half of a layer on h. x: f32 or operand [T, d]; h: operand [T, d], which
// may be x.
void feed_forward(nn::Backend& backend, nn::Arena& arena, const EncoderLayer& layer,
                  const nn::Tensor& h, const nn::Tensor& x);

}  // namespace biogpu::infer
