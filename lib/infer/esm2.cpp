#include "lib/infer/esm2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/nn/float16.hpp"
#include "lib/nn/weights/safetensors.hpp"

namespace biogpu::infer {
namespace {

using nn::Activation;
using nn::DType;
using nn::Tensor;

constexpr double kTrainedMaskShare = 0.15 * 0.8;  // of tokens that were masks in training
constexpr std::int64_t kFirstPositions = 1026;

}  // namespace

Esm2::Esm2(const std::string& folder, const ModelConfig& config, nn::Backend& backend)
    : ProteinModel(backend) {
  read_config(config);
  check_vocabulary_file(folder, info_.vocabulary);
  const nn::Checkpoint checkpoint = nn::Checkpoint::open(folder);
  nn::WeightTable table(checkpoint);
  read_rotary(table, config);
  read_weights(table);
  for (const auto& [name, tensor] : checkpoint.tensors())
    info_.n_parameters += static_cast<std::uint64_t>(tensor.size());
  extend_rotary(kFirstPositions);
}

void Esm2::read_config(const ModelConfig& config) {
  config.require("position_embedding_type", std::string("rotary"));
  config.require("emb_layer_norm_before", false);
  config.require("is_folding_model", false);
  config.require("hidden_act", std::string("gelu"));
  info_.architecture = "ESM-2";
  info_.vocabulary = esm_vocabulary();
  if (config.count_or("vocab_size", info_.vocabulary.size()) != info_.vocabulary.size())
    config.fail(fmt::format("vocab_size is {}; ESM-2 has {}", config.count("vocab_size"),
                            info_.vocabulary.size()));
  info_.n_layers = config.count("num_hidden_layers");
  info_.d_model = config.count("hidden_size");
  info_.n_heads = config.count("num_attention_heads");
  info_.trained_residues = 1022;
  d_feed_ = config.count("intermediate_size");
  if (info_.d_model % info_.n_heads != 0)
    config.fail("hidden_size is no multiple of num_attention_heads");
  d_head_ = info_.d_model / info_.n_heads;
  if (d_head_ % 8 != 0 || d_head_ < 16 || d_head_ > 128)
    config.fail(
        fmt::format("heads of {} numbers; expected a multiple of 8 from 16 to 128", d_head_));
  eps_ = static_cast<float>(config.number_or("layer_norm_eps", 1e-5));
  token_dropout_ = config.flag_or("token_dropout", true);
}

void Esm2::read_rotary(nn::WeightTable& table, const ModelConfig& config) {
  // Checkpoints keep the frequencies because training rounded them; they are part of the model.
  // Releases of transformers up to 4 store them in each layer; 5 keeps them once, and writes a name
  // with a star.
  const std::string of_layer = "encoder.layer.0.attention.self.rotary_embeddings.inv_freq";
  table.alias_prefix("esm.", "");
  table.alias_suffix("LayerNorm.gamma", "LayerNorm.weight");
  table.alias_suffix("LayerNorm.beta", "LayerNorm.bias");
  table.ignore_suffix("attention.self.rotary_embeddings.inv_freq");
  const std::string of_all = "encoder.layer.*.attention.self.rotary_embeddings.inv_freq";
  for (const std::string& name : {std::string("rotary_embeddings.inv_freq"), of_layer, of_all}) {
    if (!table.has(name)) continue;
    inverse_frequencies_ = table.take(name, {d_head_ / 2}).values;
    return;
  }
  // Published weights without the tensor had it in 16 bits.
  const bool published = config.text_or("_name_or_path", "").find("esm2_t") != std::string::npos;
  const double base = config.number_or("rope_theta", 10000.0);
  for (std::int64_t i = 0; i < d_head_ / 2; ++i) {
    const auto exact = static_cast<float>(
        1.0 / std::pow(base, static_cast<double>(2 * i) / static_cast<double>(d_head_)));
    inverse_frequencies_.push_back(published ? nn::from_f16(nn::to_f16(exact)) : exact);
  }
}

void Esm2::read_weights(nn::WeightTable& table) {
  const std::int64_t d = info_.d_model, n_words = info_.vocabulary.size();
  table.ignore_prefix("embeddings.position_");
  table.ignore_prefix("pooler.");  // random in the published files
  table.ignore_prefix("lm_head.decoder.");
  const nn::HostTensor words = table.take("embeddings.word_embeddings.weight", {n_words, d});
  embedding_ = backend_.upload(words.view, DType::f32);
  for (std::int64_t i = 0; i < info_.n_layers; ++i) layers_.push_back(read_layer(table, i));
  final_norm_ = table.take_norm(backend_, "encoder.emb_layer_norm_after", d, eps_);
  info_.has_logits = table.has("lm_head.bias");
  if (info_.has_logits) {
    head_dense_ = table.take_linear(backend_, "lm_head.dense", d, d);
    head_norm_ = table.take_norm(backend_, "lm_head.layer_norm", d, eps_);
    head_words_ = backend_.upload_linear(words.view, table.take("lm_head.bias", {n_words}).view);
  }
  info_.has_contacts = table.has("contact_head.regression.weight");
  if (info_.has_contacts) {
    const std::int64_t n_channels = info_.n_layers * info_.n_heads;
    const nn::HostTensor weight = table.take("contact_head.regression.weight", {1, n_channels});
    contact_weight_ =
        backend_.upload(Tensor(weight.view.data, DType::f32, {n_channels}), DType::f32);
    for (std::int64_t i = 0; i < info_.n_layers; ++i)
      contact_weights_.push_back(
          contact_weight_.slice(0, i * info_.n_heads, (i + 1) * info_.n_heads));
    contact_bias_ = table.take("contact_head.regression.bias", {1}).values[0];
  }
  table.finish();
}

Esm2::Layer Esm2::read_layer(nn::WeightTable& table, std::int64_t index) {
  const std::int64_t d = info_.d_model;
  const std::string name = fmt::format("encoder.layer.{}.", index);
  Layer layer;
  layer.attention_norm = table.take_norm(backend_, name + "attention.LayerNorm", d, eps_);
  std::vector<float> weight, bias;
  for (const char* part : {"query", "key", "value"}) {
    nn::HostTensor w = table.take(name + "attention.self." + part + ".weight", {d, d});
    nn::HostTensor b = table.take(name + "attention.self." + part + ".bias", {d});
    if (weight.empty()) {
      // q is scaled before it is rotated: the scale can be the weight's.
      const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_head_)));
      for (float& v : w.values) v *= scale;
      for (float& v : b.values) v *= scale;
    }
    weight.insert(weight.end(), w.values.begin(), w.values.end());
    bias.insert(bias.end(), b.values.begin(), b.values.end());
  }
  layer.qkv = backend_.upload_linear(Tensor(weight.data(), DType::f32, {3 * d, d}),
                                     Tensor(bias.data(), DType::f32, {3 * d}));
  layer.attention_out = table.take_linear(backend_, name + "attention.output.dense", d, d);
  layer.feed_norm = table.take_norm(backend_, name + "LayerNorm", d, eps_);
  layer.feed_up = table.take_linear(backend_, name + "intermediate.dense", d_feed_, d);
  layer.feed_down = table.take_linear(backend_, name + "output.dense", d, d_feed_);
  return layer;
}

void Esm2::extend_rotary(std::int64_t n_positions) {
  const std::int64_t half = d_head_ / 2;
  std::vector<float> table(static_cast<std::size_t>(n_positions * d_head_));
  for (std::int64_t position = 0; position < n_positions; ++position)
    for (std::int64_t i = 0; i < half; ++i) {
      // The product is rounded to fp32, as the reference has it.
      const float angle =
          static_cast<float>(position) * inverse_frequencies_[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(position * d_head_ + i);
      table[at] = static_cast<float>(std::cos(static_cast<double>(angle)));
      table[at + static_cast<std::size_t>(half)] =
          static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  rotary_.cos_sin =
      backend_.upload(Tensor(table.data(), DType::f32, {n_positions, d_head_}), DType::f32);
}

void Esm2::prepare(nn::HostBatch& batch) {
  std::int64_t longest = 0;
  batch.scale.clear();
  if (token_dropout_) batch.scale.resize(batch.ids.size());
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    const auto first = static_cast<std::size_t>(batch.starts[s]);
    const auto last = static_cast<std::size_t>(batch.starts[s + 1]);
    longest = std::max<std::int64_t>(longest, static_cast<std::int64_t>(last - first));
    if (!token_dropout_) continue;
    const auto begin = batch.ids.begin() + batch.starts[s],
               end = batch.ids.begin() + batch.starts[s + 1];
    const double n_masks = static_cast<double>(std::count(begin, end, info_.vocabulary.mask));
    const double share = n_masks / static_cast<double>(last - first);
    const auto scale = static_cast<float>((1 - kTrainedMaskShare) / (1 - share));
    for (std::size_t t = first; t < last; ++t)
      batch.scale[t] = batch.ids[t] == info_.vocabulary.mask ? 0.0f : scale;
  }
  if (longest > rotary_.cos_sin.shape[0])
    extend_rotary(std::max(longest, 2 * rotary_.cos_sin.shape[0]));
}

void Esm2::forward(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch,
                   const Taps& taps) {
  const auto scope = arena.scope();
  const std::int64_t n_tokens = batch.n_tokens, d = info_.d_model;
  const Tensor x = arena.take(DType::f32, {n_tokens, d});  // the residual stream
  const Tensor h = arena.take(backend.operand(), {n_tokens, d});
  Tensor contact_sums;
  if (!taps.contacts.empty()) {
    contact_sums = arena.take(DType::f32, {info_.n_layers * info_.n_heads, n_tokens});
    backend.clear(taps.contacts);
  }
  backend.embed({embedding_, {}, layers_[0].attention_norm, x, {}, h}, batch);
  taps.hidden(backend, batch, 0, x);
  for (std::int64_t i = 0; i < info_.n_layers; ++i) {
    block(backend, arena, batch, taps, i, x, h, contact_sums);
    const auto next = static_cast<std::size_t>(i + 1);
    if (next < layers_.size()) {
      taps.hidden(backend, batch, static_cast<int>(next), x);
      backend.add_layer_norm({x, {}, layers_[next].attention_norm, {}, {}, h});
    }
  }
  backend.add_layer_norm({x, {}, final_norm_, {}, x, h});
  taps.hidden(backend, batch, static_cast<int>(info_.n_layers), x);
  if (!taps.logits.empty()) head(backend, arena, taps, h);
  if (!taps.contacts.empty())
    backend.finish_contacts({taps.contacts, contact_sums, contact_weight_, contact_bias_}, batch);
}

void Esm2::block(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch, const Taps& taps,
                 std::int64_t index, const Tensor& x, const Tensor& h, const Tensor& contact_sums) {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  const std::int64_t n_tokens = batch.n_tokens, d = info_.d_model;
  const bool contacts = !taps.contacts.empty();
  {
    const auto scope = arena.scope();
    const Tensor qkv = arena.take(backend.operand(), {n_tokens, 3 * d});
    const Tensor sums = contacts ? arena.take(DType::f32, {info_.n_heads, n_tokens}) : Tensor();
    backend.qkv_rotary({h, &layer.qkv, info_.n_heads, rotary_, qkv}, batch);
    const auto heads = [&](std::int64_t part) {
      return nn::split_heads(qkv.slice(1, part * d, (part + 1) * d), info_.n_heads);
    };
    backend.attention({heads(0), heads(1), heads(2), 1.0f, {}, h, sums}, batch);
    if (contacts)
      backend.accumulate_contacts(
          {heads(0), heads(1), 1.0f, sums, contact_weights_[static_cast<std::size_t>(index)],
           index * info_.n_heads, taps.contacts, contact_sums},
          batch);
  }
  backend.gemm({h, &layer.attention_out, Activation::none, x, x});
  backend.add_layer_norm({x, {}, layer.feed_norm, {}, {}, h});
  const auto scope = arena.scope();
  const Tensor wide = arena.take(backend.operand(), {n_tokens, d_feed_});
  backend.gemm({h, &layer.feed_up, Activation::gelu_erf, {}, wide});
  backend.gemm({wide, &layer.feed_down, Activation::none, x, x});
}

void Esm2::head(nn::Backend& backend, nn::Arena& arena, const Taps& taps, const Tensor& h) {
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
