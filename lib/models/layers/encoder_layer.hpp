#pragma once

#include <cstdint>
#include <string>

#include "lib/models/base/model_config.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// What the families of BERT share: the parts of a block of the encoder. Where its normalisations
// stand is the model's own. (Devlin et al. 2019, doi 10.18653/v1/N19-1423)

struct EncoderShape {
  std::int64_t n_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t n_heads = 0;
  std::int64_t d_ffn = 0;
  float eps = 0;  // of normalisations

  std::int64_t d_head() const { return d_model / n_heads; }
};

// Throws Error{bad_input} for heads that attention cannot take and for an eps that is none. eps:
// where config.json has none.
EncoderShape read_encoder_shape(const tensor::Context& context, const ModelConfig& config,
                                double eps);

struct EncoderLayer {
  tensor::Linear qkv;
  tensor::Linear attention_out;
  tensor::Norm attention_norm;
  tensor::Linear ffn_up;
  tensor::Linear ffn_down;
  tensor::Norm ffn_norm;
};

// What differs in how a checkpoint holds a layer.
struct EncoderLayerForm {
  const char* attention_norm;  // names behind "encoder.layer.N."
  const char* ffn_norm;
  float q_scale;  // put into the weight and the bias of q
};

// Throws Error{bad_input} where the weights have not as many.
std::vector<EncoderLayer> read_encoder_layers(tensor::Context& context, tensor::WeightTable& table,
                                              const ModelConfig& config, const EncoderShape& shape,
                                              const EncoderLayerForm& form);

// Views [T, H, h] of what a layer's qkv gave, operand [T, 3 d].
struct Qkv {
  tensor::Tensor q;
  tensor::Tensor k;
  tensor::Tensor v;
};
Qkv split_qkv(const tensor::Tensor& qkv, std::int64_t n_heads);

// x += the feed-forward half of a layer on h. x: f32 or operand [T, d]; h: operand [T, d], which
// may be x.
void feed_forward(tensor::Context& context, tensor::Arena& arena, const EncoderLayer& layer,
                  const tensor::Tensor& h, const tensor::Tensor& x);

}  // namespace biogpu::models
