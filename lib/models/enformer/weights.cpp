#include "lib/models/enformer/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/ops/conv_weights.hpp"

namespace biogpu::models::enformer {
namespace {

using tensor::Context;
using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

constexpr float kEps = 1e-5f;  // of both normalisations
constexpr const char* kGammaTable = "gamma_position_basis";

// Reads by name; what needs numbers of several tensors waits until all are known to fit.
class Reader {
 public:
  Reader(const Config& config, WeightTable& table, Context& context)
      : config_(config), table_(table), context_(context) {}

  void name_parts();
  void letters(Weights& weights);
  TowerBlock tower_block(const std::string& name, std::size_t index);
  AttentionBlock attention_block(const std::string& name);
  ConvBlock conv_block(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                       std::int64_t n_taps);
  tensor::Linear head(const HeadChoice& choice);
  GammaForm gamma_form(std::optional<GammaForm> wanted);
  bool has_table_shape() const {
    return config_.n_positions == kTablePositions &&
           config_.d_value == 2 * kFeatureClasses * kTableFeatures;
  }
  void finish();
  void set_relative(GammaForm form, std::vector<AttentionBlock>& blocks);

 private:
  Affine affine(const std::string& name, std::int64_t channels);

  const Config& config_;
  WeightTable& table_;
  Context& context_;
  std::vector<HostTensor> to_relative_;  // of each block
  HostTensor gamma_;
  std::string bad_variance_;  // the first tensor that has one
};

void Reader::name_parts() {
  table_.alias_copies("_trunk.1.", "stem.");
  table_.alias_copies("_trunk.2.", "conv_tower.");
  table_.alias_copies("_trunk.4.", "transformer.");
  table_.alias_copies("_trunk.6.", "final_pointwise.");
}

Affine Reader::affine(const std::string& name, std::int64_t channels) {
  const HostTensor weight = table_.take(name + ".weight", {channels});
  const HostTensor bias = table_.take(name + ".bias", {channels});
  const HostTensor mean = table_.take(name + ".running_mean", {channels});
  const HostTensor variance = table_.take(name + ".running_var", {channels});
  table_.ignore(name + ".num_batches_tracked");
  std::vector<float> scale(static_cast<std::size_t>(channels)), shift(scale.size());
  for (std::size_t c = 0; c < scale.size(); ++c) {
    if (variance.values[c] < 0 && bad_variance_.empty()) bad_variance_ = name + ".running_var";
    const double factor = static_cast<double>(weight.values[c]) /
                          std::sqrt(std::max(0.0, static_cast<double>(variance.values[c])) + 1e-5);
    scale[c] = static_cast<float>(factor);
    shift[c] = static_cast<float>(static_cast<double>(bias.values[c]) -
                                  static_cast<double>(mean.values[c]) * factor);
  }
  return {context_.upload(Tensor(scale.data(), DType::f32, {channels}), DType::f32),
          context_.upload(Tensor(shift.data(), DType::f32, {channels}), DType::f32)};
}

ConvBlock Reader::conv_block(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                             std::int64_t n_taps) {
  ConvBlock block;
  block.norm = affine(name + ".0", n_in);
  const HostTensor weight = table_.take(name + ".2.weight", {n_out, n_in, n_taps});
  const HostTensor bias = table_.take(name + ".2.bias", {n_out});
  if (table_.maps() == WeightTable::Maps::only_checked) return block;
  std::vector<float> by_tap = ops::conv1d_weight(weight.view);
  block.conv =
      context_.upload_linear(Tensor(by_tap.data(), DType::f32, {n_out, n_taps * n_in}), bias.view);
  return block;
}

void Reader::letters(Weights& weights) {
  const std::int64_t n = config_.channels[0];
  const HostTensor weight = table_.take("stem.0.weight", {n, 4, kLetterTaps});
  const HostTensor bias = table_.take("stem.0.bias", {n});
  std::vector<float> table = ops::letter_table(weight.view);
  weights.letter_table = context_.upload(
      Tensor(table.data(), DType::f32, {kLetterTaps, ops::kLetterCodes, n}), DType::f32);
  weights.letter_bias = context_.upload(bias.view, DType::f32);
}

// index: 0 for the stem.
TowerBlock Reader::tower_block(const std::string& name, std::size_t index) {
  const std::int64_t n_out = config_.channels[index];
  TowerBlock block;
  if (index > 0)
    block.widen = conv_block(name + ".0", n_out, config_.channels[index - 1], kTowerTaps);
  block.pointwise = conv_block(name + ".1.fn", n_out, n_out, 1);
  const HostTensor pool = table_.take(name + ".2.to_attn_logits.weight", {n_out, n_out, 1, 1});
  if (table_.maps() == WeightTable::Maps::read)
    block.pool = context_.upload_linear(Tensor(pool.view.data, DType::f32, {n_out, n_out}), {});
  return block;
}

AttentionBlock Reader::attention_block(const std::string& name) {
  const std::int64_t d = config_.width, n_heads = config_.n_heads, d_key = config_.d_key;
  const std::string attention = name + ".0.fn.1.";
  const auto q_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_key)));
  const tensor::LinearPart qkv[] = {{attention + "to_q", n_heads * d_key, q_scale},
                                    {attention + "to_k", n_heads * d_key},
                                    {attention + "to_v", d}};
  AttentionBlock block;
  block.attention_norm = table_.take_norm(context_, name + ".0.fn.0", d, kEps);
  block.qkv = table_.take_linear_parts(context_, qkv, d, false);
  const auto bias = [&](const char* part) {
    const HostTensor stored = table_.take(attention + part, {1, n_heads, 1, d_key});
    return context_.upload(Tensor(stored.view.data, DType::f32, {n_heads, d_key}), DType::f32);
  };
  block.content_bias = bias("rel_content_bias");
  block.position_bias = bias("rel_pos_bias");
  to_relative_.push_back(
      table_.take(attention + "to_rel_k.weight", {n_heads * d_key, config_.d_value}));
  block.attention_out = table_.take_linear(context_, attention + "to_out", d, d);
  block.ffn_norm = table_.take_norm(context_, name + ".1.fn.0", d, kEps);
  block.ffn_up = table_.take_linear(context_, name + ".1.fn.1", 2 * d, d);
  block.ffn_down = table_.take_linear(context_, name + ".1.fn.4", d, 2 * d);
  return block;
}

tensor::Linear Reader::head(const HeadChoice& choice) {
  const std::int64_t n_tracks = config_.find_head(choice.name)->n_tracks;
  const std::int64_t n_in = config_.embedding_width();
  const std::string name = "_heads." + choice.name + ".0";
  if (choice.tracks.empty()) return table_.take_linear(context_, name, n_tracks, n_in);
  const HostTensor weight = table_.take(name + ".weight", {n_tracks, n_in});
  const HostTensor bias = table_.take(name + ".bias", {n_tracks});
  if (table_.maps() == WeightTable::Maps::only_checked) return {};
  std::vector<float> rows, biases;
  for (const std::int64_t track : choice.tracks) {
    const float* const row = weight.view.row<float>(track);
    rows.insert(rows.end(), row, row + n_in);
    biases.push_back(bias.values[static_cast<std::size_t>(track)]);
  }
  const auto n = static_cast<std::int64_t>(choice.tracks.size());
  return context_.upload_linear(Tensor(rows.data(), DType::f32, {n, n_in}),
                                Tensor(biases.data(), DType::f32, {n}));
}

GammaForm Reader::gamma_form(std::optional<GammaForm> wanted) {
  if (!wanted) wanted = config_.gamma;
  const bool stored = table_.has(kGammaTable);
  const bool fits = has_table_shape();
  if (!wanted) {
    wanted = config_.use_tf_gamma ? GammaForm::positions : GammaForm::features;
    if (stored && fits) wanted = GammaForm::tf_table;
  }
  if (*wanted != GammaForm::tf_table) {
    table_.ignore(kGammaTable);
    return *wanted;
  }
  if (!fits)
    throw Error(ErrorCode::bad_input,
                fmt::format("gamma is tf-table, which is for {} positions and {} features of a "
                            "class; the model has "
                            "{} and {}",
                            kTablePositions, kTableFeatures, config_.n_positions,
                            config_.d_value / (2 * kFeatureClasses)));
  gamma_ = table_.take(kGammaTable, {2 * kTablePositions - 1, kTableFeatures});
  return *wanted;
}

void Reader::finish() {
  table_.finish();
  if (!bad_variance_.empty())
    throw Error(ErrorCode::bad_input, bad_variance_ + " has a negative number; expected variances");
}

void Reader::set_relative(GammaForm form, std::vector<AttentionBlock>& blocks) {
  if (table_.maps() == WeightTable::Maps::only_checked) return;
  const PositionalFeatures shape{config_.n_positions, config_.d_value, form,
                                 form == GammaForm::tf_table ? gamma_.values.data() : nullptr};
  const std::vector<double> features = shape.compute();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<float> keys = relative_keys(features, config_.n_heads, to_relative_[i].view);
    const Tensor host(keys.data(), DType::f32,
                      {config_.n_heads, 2 * config_.n_positions - 1, config_.d_key});
    blocks[i].relative = context_.upload(host, context_.operand());
    to_relative_[i] = {};
  }
}

}  // namespace

Weights read_weights(const Config& config, const WeightOptions& options, WeightTable& table,
                     Context& context) {
  Reader reader(config, table, context);
  reader.name_parts();
  Weights weights;
  reader.letters(weights);
  weights.stem = reader.tower_block("stem", 0);
  for (std::size_t i = 1; i < config.channels.size(); ++i)
    weights.tower.push_back(reader.tower_block(fmt::format("conv_tower.{}", i - 1), i));
  for (std::int64_t i = 0; i < config.n_blocks; ++i)
    weights.blocks.push_back(reader.attention_block(fmt::format("transformer.{}", i)));
  weights.last = reader.conv_block("final_pointwise.1", config.embedding_width(), config.width, 1);
  for (const HeadChoice& choice : options.heads) weights.heads.push_back(reader.head(choice));
  for (const TrackHead& head : config.heads)
    for (const char* part : {".0.weight", ".0.bias"}) table.ignore("_heads." + head.name + part);
  weights.gamma = reader.gamma_form(options.gamma);
  // enformer-pytorch's config does not tell whether the table was in use.
  weights.gamma_is_guess = !options.gamma && !config.gamma && reader.has_table_shape() &&
                           weights.gamma == GammaForm::features;
  reader.finish();
  reader.set_relative(weights.gamma, weights.blocks);
  return weights;
}

}  // namespace biogpu::models::enformer
