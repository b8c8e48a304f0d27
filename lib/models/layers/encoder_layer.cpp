#include "lib/models/layers/encoder_layer.hpp"

#include <fmt/format.h>

#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::models {

using ops::Activation;
using tensor::Tensor;

namespace {

EncoderLayer read_encoder_layer(tensor::Context& context, tensor::WeightTable& table,
                                const EncoderShape& shape, const EncoderLayerForm& form,
                                std::int64_t index) {
  const std::int64_t d = shape.d_model;
  const std::string name = fmt::format("encoder.layer.{}.", index);
  const std::string self = name + "attention.self.";
  const std::string qkv[] = {self + "query", self + "key", self + "value"};
  EncoderLayer layer;
  layer.qkv = table.take_linears(context, qkv, d, d, form.q_scale);
  layer.attention_out = table.take_linear(context, name + "attention.output.dense", d, d);
  layer.attention_norm = table.take_norm(context, name + form.attention_norm, d, shape.eps);
  layer.ffn_up = table.take_linear(context, name + "intermediate.dense", shape.d_ffn, d);
  layer.ffn_down = table.take_linear(context, name + "output.dense", d, shape.d_ffn);
  layer.ffn_norm = table.take_norm(context, name + form.ffn_norm, d, shape.eps);
  return layer;
}

}  // namespace

EncoderShape read_encoder_shape(const tensor::Context& context, const ModelConfig& config,
                                double eps) {
  EncoderShape shape;
  shape.n_layers = config.count("num_hidden_layers");
  shape.d_model = config.count("hidden_size");
  shape.n_heads = config.count("num_attention_heads");
  shape.d_ffn = config.count("intermediate_size");
  const double its_eps = config.number_or("layer_norm_eps", eps);
  if (!(its_eps > 0 && its_eps <= 1))
    config.fail(fmt::format("layer_norm_eps is {}; expected a number above 0, up to 1", its_eps));
  shape.eps = static_cast<float>(its_eps);
  if (shape.d_model % shape.n_heads != 0)
    config.fail("hidden_size is no multiple of num_attention_heads");
  constexpr std::int64_t kMaxDeviceHead = 192;
  if (context.kind() == tensor::Context::Kind::gpu && shape.d_head() > kMaxDeviceHead)
    config.fail(fmt::format("heads of {} numbers; GPUs take up to {}; use --device cpu",
                            shape.d_head(), kMaxDeviceHead));
  return shape;
}

std::vector<EncoderLayer> read_encoder_layers(tensor::Context& context, tensor::WeightTable& table,
                                              const ModelConfig& config, const EncoderShape& shape,
                                              const EncoderLayerForm& form) {
  // What is missing of layers that the weights have not is no list that anybody wants to read.
  const auto has_layer = [&](std::int64_t i) {
    return table.has_prefix(fmt::format("encoder.layer.{}.", i));
  };
  const bool lacks_last = has_layer(0) && !has_layer(shape.n_layers - 1);
  if (lacks_last || shape.n_layers > static_cast<std::int64_t>(table.n_tensors()))
    config.fail(fmt::format("num_hidden_layers is {}; the weights have no encoder.layer.{}",
                            shape.n_layers, shape.n_layers - 1));
  std::vector<EncoderLayer> layers;
  for (std::int64_t i = 0; i < shape.n_layers; ++i)
    layers.push_back(read_encoder_layer(context, table, shape, form, i));
  return layers;
}

Qkv split_qkv(const Tensor& qkv, std::int64_t n_heads) {
  const std::int64_t d = qkv.shape[1] / 3;
  const auto heads = [&](std::int64_t part) {
    return tensor::split_heads(qkv.slice(1, part * d, (part + 1) * d), n_heads);
  };
  return {heads(0), heads(1), heads(2)};
}

void feed_forward(tensor::Context& context, tensor::Arena& arena, const EncoderLayer& layer,
                  const Tensor& h, const Tensor& x) {
  const auto scope = arena.scope();
  const Tensor wide = arena.take(context.compute_dtype(), {h.shape[0], layer.ffn_up.n_out});
  ops::gemm(context, {h, &layer.ffn_up, Activation::gelu_erf, {}, wide});
  ops::gemm(context, {wide, &layer.ffn_down, Activation::none, x, x});
}

}  // namespace biogpu::models
