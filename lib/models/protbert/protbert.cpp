#include "lib/models/protbert/protbert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/gather/embed.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using ops::Activation;
using tensor::DType;
using tensor::Tensor;

constexpr char kKeepRare[] = "keep-rare";

}  // namespace

ProtBert::ProtBert(const std::string& folder, const ModelConfig& config, tensor::Context& context,
                   const LoadOptions& options)
    : ProteinModel(context) {
  read_config(config, options.values.flag(kKeepRare));
  check_vocabulary_file(folder, info_.vocabulary);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, options.maps);
  table.alias_prefix("bert.", "");
  table.alias_suffix("LayerNorm.gamma", "LayerNorm.weight");
  table.alias_suffix("LayerNorm.beta", "LayerNorm.bias");
  // Of BERT's training on pairs of sentences; published files have them, and neither hidden states
  // nor the language model head read them.
  for (const char* name :
       {"pooler.dense.weight", "pooler.dense.bias", "cls.seq_relationship.weight",
        "cls.seq_relationship.bias", "embeddings.position_ids"})
    table.ignore(name);
  tensor::HostTensor words = read_embeddings(table);
  const EncoderLayerForm form{"attention.output.LayerNorm", "output.LayerNorm", 1.0f};
  layers_ = read_encoder_layers(context_, table, config, shape_, form);
  read_head(table, config, std::move(words));
  table.finish();
  for (const auto& [name, tensor] : checkpoint.tensors())
    info_.n_parameters += static_cast<std::uint64_t>(tensor.size());
}

void ProtBert::read_config(const ModelConfig& config, bool keep_rare) {
  config.require("position_embedding_type", std::string("absolute"));
  config.require("hidden_act", std::string("gelu"));
  config.require("is_decoder", false);
  info_.architecture = "ProtBERT";
  info_.vocabulary = protbert_vocabulary(keep_rare);
  if (config.count("vocab_size") != info_.vocabulary.size())
    config.fail(fmt::format("vocab_size is {}; ProtBERT has {}", config.count("vocab_size"),
                            info_.vocabulary.size()));
  shape_ = read_encoder_shape(context_, config, 1e-12);
  info_.n_layers = shape_.n_layers;
  info_.d_model = shape_.d_model;
  info_.n_heads = shape_.n_heads;
  n_positions_ = config.count_or("max_position_embeddings", 512);
  n_types_ = config.count_or("type_vocab_size", 2);
  if (n_positions_ < 3) config.fail("max_position_embeddings is below 3");
  info_.max_residues = n_positions_ - 2;
  info_.trained_residues = 2046;
}

// Gives the words, which the head may share.
tensor::HostTensor ProtBert::read_embeddings(tensor::WeightTable& table) {
  const std::int64_t d = info_.d_model;
  tensor::HostTensor words =
      table.take("embeddings.word_embeddings.weight", {info_.vocabulary.size(), d});
  embedding_ = context_.upload(words.view, DType::f32);
  tensor::HostTensor positions =
      table.take("embeddings.position_embeddings.weight", {n_positions_, d});
  const tensor::HostTensor types =
      table.take("embeddings.token_type_embeddings.weight", {n_types_, d});
  for (std::size_t i = 0; i < positions.values.size(); ++i)
    positions.values[i] += types.values[i % static_cast<std::size_t>(d)];
  positions_ = context_.upload(positions.view, DType::f32);
  embedding_norm_ = table.take_norm(context_, "embeddings.LayerNorm", d, shape_.eps);
  return words;
}

void ProtBert::read_head(tensor::WeightTable& table, const ModelConfig& config,
                         tensor::HostTensor words) {
  const std::string head = "cls.predictions.";
  info_.has_logits = table.has(head + "transform.dense.weight");
  if (info_.has_logits) {
    const tensor::HostTensor bias = read_head_bias(table, config);
    words = take_decoder_weight(config, table, head + "decoder.weight", std::move(words));
    head_ = LanguageHead(context_, table,
                         {head + "transform.dense", head + "transform.LayerNorm", shape_.eps,
                          words.view, bias.view});
  }
}

// The reference adds decoder.bias. It is predictions.bias, under one of the names or both, unless
// the head is untied: then predictions.bias, which is written all the same, is not read.
tensor::HostTensor ProtBert::read_head_bias(tensor::WeightTable& table, const ModelConfig& config) {
  const std::int64_t n_words = info_.vocabulary.size();
  const std::string shared = "cls.predictions.bias", own = "cls.predictions.decoder.bias";
  if (!table.has(own)) return table.take(shared, {n_words});
  tensor::HostTensor bias = table.take(own, {n_words});
  if (!config.flag_or("tie_word_embeddings", true)) {
    table.ignore(shared);
  } else if (table.has(shared)) {
    const tensor::HostTensor other = table.take(shared, {n_words});
    if (!std::equal(bias.values.begin(), bias.values.end(), other.values.begin()))
      table.note_unequal(own);
  }
  return bias;
}

std::vector<float> ProtBert::prepare(const TokenBatch&) { return {}; }

// The stream is normalised behind every sum, and products read it as it is: it is kept in their
// type alone, and in fp32 only where it is asked for.
void ProtBert::forward(Pass& pass, const DeviceTokens& batch) {
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const Tensor x =
      arena.take(pass.context().compute_dtype(), {batch.segments.n_rows, info_.d_model});
  {
    const auto shown_scope = arena.scope();
    const Tensor shown = take_shown(pass, 0, x);
    ops::embed(pass.context(), {embedding_,
                                batch.ids,
                                batch.scale,
                                positions_,
                                batch.segments.positions,
                                embedding_norm_,
                                {},
                                shown,
                                x});
    give_hidden(pass, batch, 0, shown.empty() ? x : shown);
  }
  for (std::int64_t i = 0; i < info_.n_layers; ++i) block(pass, batch, i, x);
  head_.run(pass, x, batch.logit_rows);
}

// Room for the hidden states of a layer in fp32, or nothing where they are not asked for or x has
// them.
Tensor ProtBert::take_shown(Pass& pass, int layer, const Tensor& x) {
  if (x.dtype == DType::f32 || !wants_hidden(pass, layer)) return {};
  return pass.arena().take(DType::f32, {x.shape[0], x.shape[1]});
}

void ProtBert::block(Pass& pass, const DeviceTokens& batch, std::int64_t index, const Tensor& x) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const EncoderLayer& layer = layers_[static_cast<std::size_t>(index)];
  const std::int64_t n_tokens = batch.segments.n_rows, d = info_.d_model;
  {
    const auto scope = arena.scope();
    const Tensor qkv = arena.take(context.compute_dtype(), {n_tokens, 3 * d});
    const Tensor mixed = arena.take(context.compute_dtype(), {n_tokens, d});
    ops::qkv_rotary(context, {x, &layer.qkv, info_.n_heads, {}, {}, qkv});
    const auto [q, k, v] = split_qkv(qkv, info_.n_heads);
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape_.d_head())));
    ops::attention(context, {q, k, v, scale, {}, &batch.segments, mixed, {}});
    ops::gemm(context, {mixed, &layer.attention_out, Activation::none, x, x});
  }
  ops::add_layer_norm(context, {x, {}, layer.attention_norm, {}, {}, x});
  feed_forward(context, arena, layer, x, x);
  const auto scope = arena.scope();
  const int next = static_cast<int>(index + 1);
  const Tensor shown = take_shown(pass, next, x);
  ops::add_layer_norm(context, {x, {}, layer.ffn_norm, {}, shown, x});
  give_hidden(pass, batch, next, shown.empty() ? x : shown);
}

ModelDef protbert_model() {
  return {"bert",
          "ProtBERT",
          Reads::proteins,
          {"embed", "logits", "fill-mask", "score"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<ProtBert>(folder, config, context, options);
          },
          tensor::Precision::fp16,
          {{.name = kKeepRare, .help = "read U, Z, O and B as themselves, not as X (ProtBERT)"}}};
}

}  // namespace biogpu::models
