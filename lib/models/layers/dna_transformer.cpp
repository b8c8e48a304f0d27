#include "lib/models/layers/dna_transformer.hpp"

#include <cmath>

#include "lib/models/layers/relative_keys.hpp"
#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/relative_attention.hpp"
#include "lib/ops/attention/rotate_heads.hpp"
#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

namespace biogpu::models {

using ops::Activation;
using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

namespace {

// Tracks differ little between positions compared with the size of the sums, so cut-off sums show.
void set_sum_in_parts(DnaTransformerBlock& block) {
  for (tensor::Linear* const map :
       {&block.qkv, &block.attention_out, &block.ffn_up, &block.ffn_down})
    map->sum_in_parts = true;
}

}  // namespace

void DnaTransformerReader::take_feed_forward(const std::string& name, DnaTransformerBlock& block) {
  const std::int64_t d = shape_.width;
  block.attention_norm = table_.take_norm(context_, name + ".0.fn.0", d, shape_.eps);
  block.ffn_norm = table_.take_norm(context_, name + ".1.fn.0", d, shape_.eps);
  block.ffn_up = table_.take_linear(context_, name + ".1.fn.1", 2 * d, d);
  block.ffn_down = table_.take_linear(context_, name + ".1.fn.4", d, 2 * d);
}

DnaTransformerBlock DnaTransformerReader::relative_block(const std::string& name,
                                                         std::int64_t n_features) {
  const std::int64_t d = shape_.width, n_heads = shape_.n_heads, d_key = shape_.d_key;
  const std::string attention = name + ".0.fn.1.";
  const auto q_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_key)));
  const tensor::LinearPart qkv[] = {{attention + "to_q", n_heads * d_key, q_scale},
                                    {attention + "to_k", n_heads * d_key},
                                    {attention + "to_v", shape_.mixed_width()}};
  DnaTransformerBlock block;
  take_feed_forward(name, block);
  block.qkv = table_.take_linear_parts(context_, qkv, d, false);
  const auto bias = [&](const char* part) {
    const HostTensor stored = table_.take(attention + part, {1, n_heads, 1, d_key});
    return context_.upload(Tensor(stored.view.data, DType::f32, {n_heads, d_key}), DType::f32);
  };
  block.content_bias = bias("rel_content_bias");
  block.position_bias = bias("rel_pos_bias");
  to_relative_.push_back(table_.take(attention + "to_rel_k.weight", {n_heads * d_key, n_features}));
  block.attention_out = table_.take_linear(context_, attention + "to_out", d, shape_.mixed_width());
  set_sum_in_parts(block);
  return block;
}

void DnaTransformerReader::set_relative(const std::vector<double>& features,
                                        std::vector<DnaTransformerBlock>& blocks) {
  if (table_.maps() == WeightTable::Maps::only_checked) return;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<float> keys = relative_keys(features, shape_.n_heads, to_relative_[i].view);
    const std::int64_t n_distances =
        static_cast<std::int64_t>(keys.size()) / (shape_.n_heads * shape_.d_key);
    const Tensor host(keys.data(), DType::f32, {shape_.n_heads, n_distances, shape_.d_key});
    blocks[i].relative = context_.upload(host, context_.compute_dtype());
    to_relative_[i] = {};
  }
}

DnaTransformerBlock DnaTransformerReader::rotary_block(const std::string& name) {
  const std::int64_t d = shape_.width, d_key = shape_.d_key;
  const std::string attention = name + ".0.fn.1.mha.";
  DnaTransformerBlock block;
  take_feed_forward(name, block);
  block.qkv = table_.take_linear(context_, attention + "Wqkv",
                                 (shape_.n_heads + 2 * shape_.n_key_heads) * d_key, d);
  block.q_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_key)));
  block.attention_out =
      table_.take_linear(context_, attention + "out_proj", d, shape_.mixed_width());
  set_sum_in_parts(block);
  return block;
}

namespace {

// x += attention over h.
void attend(Pass& pass, const DnaTransformerShape& shape, const DnaTransformerBlock& block,
            const tensor::Ragged& positions, const Tensor& x, const Tensor& h) {
  tensor::Context& context = pass.context();
  const auto scope = pass.arena().scope();
  const Tensor qkv = pass.arena().take(context.compute_dtype(), {x.shape[0], block.qkv.n_out});
  const Tensor mixed =
      pass.arena().take(context.compute_dtype(), {x.shape[0], shape.mixed_width()});
  ops::gemm(context, {h, &block.qkv, Activation::none, {}, qkv});
  const std::int64_t n_queries = shape.n_heads * shape.d_key,
                     n_keys = shape.n_key_heads * shape.d_key, n_qk = n_queries + n_keys;
  const Tensor q = tensor::split_heads(qkv.slice(1, 0, n_queries), shape.n_heads);
  const Tensor k = tensor::split_heads(qkv.slice(1, n_queries, n_qk), shape.n_key_heads);
  const Tensor v = tensor::split_heads(qkv.slice(1, n_qk, block.qkv.n_out), shape.n_key_heads);
  if (block.rotary.cos_sin.empty()) {
    ops::relative_attention(context, {q, k, v, block.content_bias, block.position_bias,
                                      block.relative, &positions, mixed});
  } else {
    const Tensor turned =
        tensor::split_heads(qkv.slice(1, 0, n_qk), shape.n_heads + shape.n_key_heads);
    ops::rotate_heads(context, {turned, block.rotary, positions.positions});
    ops::attention(context, {q, k, v, block.q_scale, {}, &positions, mixed, {}});
  }
  ops::gemm(context, {mixed, &block.attention_out, Activation::none, x, x});
}

}  // namespace

void run_dna_transformer_block(Pass& pass, const DnaTransformerShape& shape,
                               const DnaTransformerBlock& block, const tensor::Ragged& positions,
                               const Tensor& x, const Tensor& h, const ops::Activated& next) {
  tensor::Context& context = pass.context();
  ops::add_layer_norm(context, {x, {}, block.attention_norm, {}, {}, h});
  attend(pass, shape, block, positions, x, h);
  ops::add_layer_norm(context, {x, {}, block.ffn_norm, {}, {}, h});
  const auto scope = pass.arena().scope();
  const Tensor wide = pass.arena().take(context.compute_dtype(), {x.shape[0], block.ffn_up.n_out});
  ops::gemm(context, {h, &block.ffn_up, Activation::relu, {}, wide});
  ops::conv1d(context, {wide, &block.ffn_down, 1, 1, &positions, nullptr, x, x, next});
}

}  // namespace biogpu::models
