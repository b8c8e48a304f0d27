#include "lib/models/esm2/esm2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/models/esm2/ops/contacts.hpp"
#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/elementwise/fill_zero.hpp"
#include "lib/ops/gather/embed.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/float16.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models {
namespace {

using ops::Activation;
using tensor::DType;
using tensor::Tensor;

constexpr double kTrainedMaskShare = 0.15 * 0.8;  // of tokens that were masks in training
constexpr std::int64_t kFirstPositions = 1026;

}  // namespace

Esm2::Esm2(const std::string& folder, const ModelConfig& config, tensor::Context& context,
           tensor::WeightTable::Maps maps)
    : ProteinModel(context) {
  read_config(config);
  check_vocabulary_file(folder, info_.vocabulary);
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  tensor::WeightTable table(checkpoint, maps);
  read_rotary(table, config);
  read_weights(table, config);
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
  shape_ = read_encoder_shape(context_, config, 1e-5);
  if (shape_.d_head() % 2 != 0)
    config.fail(fmt::format("heads of {} numbers; expected an even number, for rotary positions",
                            shape_.d_head()));
  info_.n_layers = shape_.n_layers;
  info_.d_model = shape_.d_model;
  info_.n_heads = shape_.n_heads;
  info_.trained_residues = 1022;
  token_dropout_ = config.flag_or("token_dropout", true);
}

void Esm2::read_rotary(tensor::WeightTable& table, const ModelConfig& config) {
  // Checkpoints keep the frequencies because training rounded them; they are part of the model.
  // Releases of transformers up to 4 store them in each layer; 5 keeps them once, and writes a name
  // with a star.
  const std::string tensor = ".attention.self.rotary_embeddings.inv_freq";
  table.alias_prefix("esm.", "");
  table.alias_suffix("LayerNorm.gamma", "LayerNorm.weight");
  table.alias_suffix("LayerNorm.beta", "LayerNorm.bias");
  std::vector<std::string> names{"rotary_embeddings.inv_freq", "encoder.layer.*" + tensor};
  const auto n_tensors = static_cast<std::int64_t>(table.n_tensors());
  for (std::int64_t i = 0; i < std::min(shape_.n_layers, n_tensors); ++i)
    names.push_back(fmt::format("encoder.layer.{}{}", i, tensor));
  for (const std::string& name : names) {
    if (!table.has(name)) continue;
    const tensor::HostTensor given = table.take(name, {shape_.d_head() / 2});
    if (inverse_frequencies_.empty())
      inverse_frequencies_.assign(given.values.begin(), given.values.end());
    else if (!std::equal(given.values.begin(), given.values.end(), inverse_frequencies_.begin()))
      table.note_unequal(name);
  }
  if (!inverse_frequencies_.empty()) return;
  // Published weights without the tensor had it in 16 bits.
  const bool published = config.text_or("_name_or_path", "").find("esm2_t") != std::string::npos;
  const double base = config.number_or("rope_theta", 10000.0);
  const std::int64_t d_head = shape_.d_head();
  for (std::int64_t i = 0; i < d_head / 2; ++i) {
    const auto exact = static_cast<float>(
        1.0 / std::pow(base, static_cast<double>(2 * i) / static_cast<double>(d_head)));
    inverse_frequencies_.push_back(published ? tensor::from_f16(tensor::to_f16(exact)) : exact);
  }
}

void Esm2::read_weights(tensor::WeightTable& table, const ModelConfig& config) {
  const std::int64_t d = info_.d_model, n_words = info_.vocabulary.size();
  // Published files have these; with rotary positions and without a pooled output the reference
  // does not read them. The pooler's numbers are random.
  for (const char* name : {"embeddings.position_ids", "embeddings.position_embeddings.weight",
                           "pooler.dense.weight", "pooler.dense.bias"})
    table.ignore(name);
  tensor::HostTensor words = table.take("embeddings.word_embeddings.weight", {n_words, d});
  embedding_ = context_.upload(words.view, DType::f32);
  // q is scaled before it is rotated: the scale can be the weight's.
  const auto q_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape_.d_head())));
  const EncoderLayerForm form{"attention.LayerNorm", "LayerNorm", q_scale};
  layers_ = read_encoder_layers(context_, table, config, shape_, form);
  final_norm_ = table.take_norm(context_, "encoder.emb_layer_norm_after", d, shape_.eps);
  encoder_.table = embedding_;
  for (const EncoderLayer& layer : layers_)
    encoder_.blocks.push_back({&layer.qkv, &layer.attention_out, &layer.ffn_up, &layer.ffn_down,
                               layer.attention_norm, layer.ffn_norm});
  encoder_.final_norm = final_norm_;
  encoder_.n_heads = info_.n_heads;
  info_.has_logits = table.has("lm_head.bias");
  if (info_.has_logits) {
    words = take_decoder_weight(config, table, "lm_head.decoder.weight", std::move(words));
    head_ = LanguageHead(context_, table,
                         {"lm_head.dense", "lm_head.layer_norm", shape_.eps, words.view,
                          table.take("lm_head.bias", {n_words}).view});
  }
  info_.has_contacts = table.has("contact_head.regression.weight");
  if (info_.has_contacts) {
    const std::int64_t n_channels = info_.n_layers * info_.n_heads;
    const tensor::HostTensor weight = table.take("contact_head.regression.weight", {1, n_channels});
    contact_weight_ =
        context_.upload(Tensor(weight.view.data, DType::f32, {n_channels}), DType::f32);
    for (std::int64_t i = 0; i < info_.n_layers; ++i)
      contact_weights_.push_back(
          contact_weight_.slice(0, i * info_.n_heads, (i + 1) * info_.n_heads));
    contact_bias_ = table.take("contact_head.regression.bias", {1}).values[0];
  }
  table.finish();
}

void Esm2::extend_rotary(std::int64_t n_positions) {
  const std::int64_t d_head = shape_.d_head(), half = d_head / 2;
  std::vector<float> table(static_cast<std::size_t>(n_positions * d_head));
  for (std::int64_t position = 0; position < n_positions; ++position)
    for (std::int64_t i = 0; i < half; ++i) {
      // The product is rounded to fp32, as the reference has it.
      const float angle =
          static_cast<float>(position) * inverse_frequencies_[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(position * d_head + i);
      table[at] = static_cast<float>(std::cos(static_cast<double>(angle)));
      table[at + static_cast<std::size_t>(half)] =
          static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  rotary_.cos_sin =
      context_.upload(Tensor(table.data(), DType::f32, {n_positions, d_head}), DType::f32);
}

std::vector<float> Esm2::prepare(const TokenBatch& batch) {
  std::int64_t longest = 0;
  std::vector<float> scales(token_dropout_ ? batch.ids.size() : 0);
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    const auto first = static_cast<std::size_t>(batch.starts[s]);
    const auto last = static_cast<std::size_t>(batch.starts[s + 1]);
    longest = std::max<std::int64_t>(longest, static_cast<std::int64_t>(last - first));
    if (!token_dropout_) continue;
    const auto begin = batch.ids.begin() + batch.starts[s],
               end = batch.ids.begin() + batch.starts[s + 1];
    const auto n_masks = static_cast<double>(std::count(begin, end, info_.vocabulary.mask));
    const double share = n_masks / static_cast<double>(last - first);
    const auto scale = static_cast<float>((1 - kTrainedMaskShare) / (1 - share));
    for (std::size_t t = first; t < last; ++t)
      scales[t] = batch.ids[t] == info_.vocabulary.mask ? 0.0f : scale;
  }
  if (longest > rotary_.cos_sin.shape[0])
    extend_rotary(std::max(longest, 2 * rotary_.cos_sin.shape[0]));
  return scales;
}

void Esm2::forward(Pass& pass, const DeviceTokens& batch) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const std::int64_t n_tokens = batch.segments.n_rows, d = info_.d_model;
  const Tensor x = arena.take(DType::f32, {n_tokens, d});  // the residual stream
  const Tensor h = arena.take(context.compute_dtype(), {n_tokens, d});
  if (!wants_inside(pass) && encode_at_once(context, batch, x, h)) {
    finish(pass, batch, x, h);
    return;
  }
  const Tensor contacts = pass.find(kContacts);
  Tensor contact_sums;
  if (!contacts.empty()) {
    contact_sums = arena.take(DType::f32, {info_.n_layers * info_.n_heads, n_tokens});
    ops::fill_zero(context, {contacts});
  }
  ops::embed(context,
             {embedding_, batch.ids, batch.scale, {}, {}, layers_[0].attention_norm, x, {}, h});
  give_hidden(pass, batch, 0, x);
  for (std::int64_t i = 0; i < info_.n_layers; ++i) {
    block(pass, batch, i, x, h, contact_sums);
    const auto next = static_cast<std::size_t>(i + 1);
    if (next < layers_.size()) {
      give_hidden(pass, batch, static_cast<int>(next), x);
      ops::add_layer_norm(context, {x, {}, layers_[next].attention_norm, {}, {}, h});
    }
  }
  ops::add_layer_norm(context, {x, {}, final_norm_, {}, x, h});
  finish(pass, batch, x, h);
  if (!contacts.empty())
    esm2::finish_contacts(context, {contacts, contact_sums, contact_weight_, contact_bias_,
                                    &batch.segments, batch.first_score});
}

// Whether the device has one kernel for the whole encoder over so few tokens, which is then queued.
bool Esm2::encode_at_once(tensor::Context& context, const DeviceTokens& batch, const Tensor& x,
                          const Tensor& h) {
  bool ran = false;
  esm2::Encode8m encoder = encoder_;
  encoder.rotary = rotary_;
  encoder.ids = batch.ids;
  encoder.scale = batch.scale;
  encoder.segments = &batch.segments;
  encoder.x = x;
  encoder.h = h;
  encoder.ran = &ran;
  esm2::encode_8m(context, encoder);
  return ran;
}

// Whether something is asked for that lies between the blocks.
bool Esm2::wants_inside(const Pass& pass) const {
  for (int layer = 0; layer < static_cast<int>(info_.n_layers); ++layer)
    if (wants_hidden(pass, layer)) return true;
  return !pass.find(kContacts).empty();
}

void Esm2::finish(Pass& pass, const DeviceTokens& batch, const Tensor& x, const Tensor& h) {
  give_hidden(pass, batch, static_cast<int>(info_.n_layers), x);
  head_.run(pass, h, batch.logit_rows);
}

void Esm2::block(Pass& pass, const DeviceTokens& batch, std::int64_t index, const Tensor& x,
                 const Tensor& h, const Tensor& contact_sums) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const EncoderLayer& layer = layers_[static_cast<std::size_t>(index)];
  const std::int64_t n_tokens = batch.segments.n_rows, d = info_.d_model;
  const bool contacts = !contact_sums.empty();
  {
    const auto scope = arena.scope();
    const Tensor qkv = arena.take(context.compute_dtype(), {n_tokens, 3 * d});
    const Tensor sums = contacts ? arena.take(DType::f32, {info_.n_heads, n_tokens}) : Tensor();
    ops::qkv_rotary(context,
                    {h, &layer.qkv, info_.n_heads, rotary_, batch.segments.positions, qkv});
    const auto [q, k, v] = split_qkv(qkv, info_.n_heads);
    ops::attention(context, {q, k, v, 1.0f, {}, &batch.segments, h, sums});
    if (contacts)
      esm2::accumulate_contacts(
          context, {q, k, 1.0f, sums, contact_weights_[static_cast<std::size_t>(index)],
                    index * info_.n_heads, &batch.segments, batch.first_score, pass.find(kContacts),
                    contact_sums});
  }
  ops::gemm(context, {h, &layer.attention_out, Activation::none, x, x});
  ops::add_layer_norm(context, {x, {}, layer.ffn_norm, {}, {}, h});
  feed_forward(context, arena, layer, h, x);
}

ModelDef esm2_model() {
  return {"esm",
          "ESM-2",
          Reads::proteins,
          {"embed", "logits", "fill-mask", "score", "contacts"},
          [](const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<Esm2>(folder, config, context, options.maps);
          }};
}

}  // namespace biogpu::models
