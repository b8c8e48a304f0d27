#include "lib/infer/protbert.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/core/error.hpp"
#include "lib/nn/weights/safetensors.hpp"

namespace biogpu::infer {
namespace {

using nn::Activation;
using nn::DType;
using nn::Tensor;

}  // namespace

ProtBert::ProtBert(const std::string& folder, const ModelConfig& config, nn::Backend& backend,
                   bool keep_rare)
    : ProteinModel(backend) {
  read_config(config, keep_rare);
  check_vocabulary_file(folder, info_.vocabulary);
  const nn::Checkpoint checkpoint = nn::Checkpoint::open(folder);
  nn::WeightTable table(checkpoint);
  table.alias_prefix("bert.", "");
  table.alias_suffix("LayerNorm.gamma", "LayerNorm.weight");
  table.alias_suffix("LayerNorm.beta", "LayerNorm.bias");
  table.ignore_prefix("pooler.");
  table.ignore_prefix("cls.seq_relationship.");
  table.ignore_prefix("embeddings.position_ids");
  read_embeddings(table);
  for (std::int64_t i = 0; i < info_.n_layers; ++i) layers_.push_back(read_layer(table, i));
  read_head(table);
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
  info_.n_layers = config.count("num_hidden_layers");
  info_.d_model = config.count("hidden_size");
  info_.n_heads = config.count("num_attention_heads");
  d_feed_ = config.count("intermediate_size");
  n_positions_ = config.count_or("max_position_embeddings", 512);
  n_types_ = config.count_or("type_vocab_size", 2);
  if (n_positions_ < 3) config.fail("max_position_embeddings is below 3");
  info_.max_residues = n_positions_ - 2;
  info_.trained_residues = 2046;
  if (info_.d_model % info_.n_heads != 0)
    config.fail("hidden_size is no multiple of num_attention_heads");
  d_head_ = info_.d_model / info_.n_heads;
  if (d_head_ % 8 != 0 || d_head_ < 16 || d_head_ > 128)
    config.fail(
        fmt::format("heads of {} numbers; expected a multiple of 8 from 16 to 128", d_head_));
  eps_ = static_cast<float>(config.number_or("layer_norm_eps", 1e-12));
}

void ProtBert::read_embeddings(nn::WeightTable& table) {
  const std::int64_t d = info_.d_model;
  nn::HostTensor words =
      table.take("embeddings.word_embeddings.weight", {info_.vocabulary.size(), d});
  embedding_ = backend_.upload(words.view, DType::f32);
  words_ = std::move(words.values);
  nn::HostTensor positions = table.take("embeddings.position_embeddings.weight", {n_positions_, d});
  const nn::HostTensor types = table.take("embeddings.token_type_embeddings.weight", {n_types_, d});
  for (std::size_t i = 0; i < positions.values.size(); ++i)
    positions.values[i] += types.values[i % static_cast<std::size_t>(d)];
  positions_ = backend_.upload(positions.view, DType::f32);
  embedding_norm_ = table.take_norm(backend_, "embeddings.LayerNorm", d, eps_);
}

ProtBert::Layer ProtBert::read_layer(nn::WeightTable& table, std::int64_t index) {
  const std::int64_t d = info_.d_model;
  const std::string name = fmt::format("encoder.layer.{}.", index);
  Layer layer;
  std::vector<float> weight, bias;
  for (const char* part : {"query", "key", "value"}) {
    const nn::HostTensor w = table.take(name + "attention.self." + part + ".weight", {d, d});
    const nn::HostTensor b = table.take(name + "attention.self." + part + ".bias", {d});
    weight.insert(weight.end(), w.values.begin(), w.values.end());
    bias.insert(bias.end(), b.values.begin(), b.values.end());
  }
  layer.qkv = backend_.upload_linear(Tensor(weight.data(), DType::f32, {3 * d, d}),
                                     Tensor(bias.data(), DType::f32, {3 * d}));
  layer.attention_out = table.take_linear(backend_, name + "attention.output.dense", d, d);
  layer.attention_norm = table.take_norm(backend_, name + "attention.output.LayerNorm", d, eps_);
  layer.feed_up = table.take_linear(backend_, name + "intermediate.dense", d_feed_, d);
  layer.feed_down = table.take_linear(backend_, name + "output.dense", d, d_feed_);
  layer.feed_norm = table.take_norm(backend_, name + "output.LayerNorm", d, eps_);
  return layer;
}

void ProtBert::read_head(nn::WeightTable& table) {
  const std::int64_t d = info_.d_model, n_words = info_.vocabulary.size();
  const std::string head = "cls.predictions.";
  // The words of the head are the embedding's; its bias goes by two names.
  table.ignore_prefix(head + "decoder.");
  info_.has_logits = table.has(head + "transform.dense.weight");
  if (info_.has_logits) {
    head_dense_ = table.take_linear(backend_, head + "transform.dense", d, d);
    head_norm_ = table.take_norm(backend_, head + "transform.LayerNorm", d, eps_);
    const bool named = table.has(head + "bias");
    const nn::HostTensor bias =
        table.take(named ? head + "bias" : head + "decoder.bias", {n_words});
    if (named && table.has(head + "decoder.bias") &&
        table.take(head + "decoder.bias", {n_words}).values != bias.values)
      throw Error(ErrorCode::bad_input,
                  "cls.predictions.bias and cls.predictions.decoder.bias differ in the weights");
    head_words_ =
        backend_.upload_linear(Tensor(words_.data(), DType::f32, {n_words, d}), bias.view);
  }
  words_ = {};
}

void ProtBert::prepare(nn::HostBatch& batch) { batch.scale.clear(); }

void ProtBert::forward(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch,
                       const Taps& taps) {
  const auto scope = arena.scope();
  const std::int64_t n_tokens = batch.n_tokens, d = info_.d_model;
  const Tensor x = arena.take(DType::f32, {n_tokens, d});  // the residual stream, normalised
  // What products read: the stream itself where they read fp32.
  const bool same = backend.operand() == DType::f32;
  const Tensor h = same ? x : arena.take(backend.operand(), {n_tokens, d});
  backend.embed({embedding_, positions_, embedding_norm_, {}, x, same ? Tensor() : h}, batch);
  taps.hidden(backend, batch, 0, x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    block(backend, arena, batch, layers_[i], x, h);
    taps.hidden(backend, batch, static_cast<int>(i + 1), x);
  }
  if (!taps.logits.empty()) head(backend, arena, taps, h);
}

void ProtBert::block(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch,
                     const Layer& layer, const Tensor& x, const Tensor& h) {
  const std::int64_t n_tokens = batch.n_tokens, d = info_.d_model;
  const Tensor h_out = h.data == x.data ? Tensor() : h;
  {
    const auto scope = arena.scope();
    const Tensor qkv = arena.take(backend.operand(), {n_tokens, 3 * d});
    const Tensor mixed = arena.take(backend.operand(), {n_tokens, d});
    backend.qkv_rotary({h, &layer.qkv, info_.n_heads, {}, qkv}, batch);
    const auto heads = [&](std::int64_t part) {
      return nn::split_heads(qkv.slice(1, part * d, (part + 1) * d), info_.n_heads);
    };
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_head_)));
    backend.attention({heads(0), heads(1), heads(2), scale, {}, mixed, {}}, batch);
    backend.gemm({mixed, &layer.attention_out, Activation::none, x, x});
  }
  backend.add_layer_norm({x, {}, layer.attention_norm, {}, x, h_out});
  const auto scope = arena.scope();
  const Tensor wide = arena.take(backend.operand(), {n_tokens, d_feed_});
  backend.gemm({h, &layer.feed_up, Activation::gelu_erf, {}, wide});
  backend.gemm({wide, &layer.feed_down, Activation::none, x, x});
  backend.add_layer_norm({x, {}, layer.feed_norm, {}, x, h_out});
}

void ProtBert::head(nn::Backend& backend, nn::Arena& arena, const Taps& taps, const Tensor& h) {
  const auto scope = arena.scope();
  const std::int64_t n_rows = taps.logit_rows.shape[0], d = info_.d_model;
  const Tensor rows = arena.take(backend.operand(), {n_rows, d});
  const Tensor y = arena.take(DType::f32, {n_rows, d});
  backend.gather_rows(rows, h, taps.logit_rows);
  backend.gemm({rows, &head_dense_, Activation::gelu_erf, {}, y});
  backend.add_layer_norm({y, {}, head_norm_, {}, {}, rows});
  backend.gemm({rows, &head_words_, Activation::none, {}, taps.logits});
  if (taps.request->log_probabilities) backend.log_softmax(taps.logits);
}

}  // namespace biogpu::infer
