#include "lib/models/enformer/weights.hpp"

#include <fmt/format.h>

#include "lib/core/error.hpp"
#include "lib/models/layers/tower_reach.hpp"

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
      : config_(config),
        table_(table),
        context_(context),
        convs_(table, context, static_cast<double>(kEps)),
        transformer_(transformer_shape(config), table, context) {}

  void name_parts();
  LetterConv letters() { return convs_.letters("stem.0", config_.channels[0], kLetterTaps); }
  TowerBlock tower_block(const std::string& name, std::size_t index);
  DnaTransformerBlock attention_block(const std::string& name) {
    return transformer_.relative_block(name, config_.d_value);
  }
  ConvBlock conv_block(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                       std::int64_t n_taps) {
    return convs_.block(name + ".0", name + ".2", n_out, n_in, n_taps);
  }
  tensor::Linear head(const HeadChoice& choice);
  GammaForm gamma_form(std::optional<GammaForm> wanted);
  bool has_table_shape() const {
    return config_.n_positions == kTablePositions &&
           config_.d_value == 2 * kFeatureClasses * kTableFeatures;
  }
  void finish();
  void set_relative(GammaForm form, std::vector<DnaTransformerBlock>& blocks);

 private:
  const Config& config_;
  WeightTable& table_;
  Context& context_;
  ConvReader convs_;
  DnaTransformerReader transformer_;
  HostTensor gamma_;
};

void Reader::name_parts() {
  table_.alias_copies("_trunk.1.", "stem.");
  table_.alias_copies("_trunk.2.", "conv_tower.");
  table_.alias_copies("_trunk.4.", "transformer.");
  table_.alias_copies("_trunk.6.", "final_pointwise.");
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

tensor::Linear Reader::head(const HeadChoice& choice) {
  return take_head(table_, context_,
                   {"_heads." + choice.name + ".0", find_head(config_.heads, choice.name)->n_tracks,
                    config_.embedding_width()},
                   choice.tracks);
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
  convs_.require_variances();
}

void Reader::set_relative(GammaForm form, std::vector<DnaTransformerBlock>& blocks) {
  if (table_.maps() == WeightTable::Maps::only_checked) return;
  const PositionalFeatures shape{config_.n_positions, config_.d_value, form,
                                 form == GammaForm::tf_table ? gamma_.values.data() : nullptr};
  transformer_.set_relative(shape.compute(), blocks);
}

}  // namespace

DnaTransformerShape transformer_shape(const Config& config) {
  return {config.width, config.n_heads, config.n_heads, config.d_key, config.d_value, kEps};
}

Weights read_weights(const Config& config, const WeightOptions& options, WeightTable& table,
                     Context& context) {
  Reader reader(config, table, context);
  reader.name_parts();
  Weights weights;
  weights.letters = reader.letters();
  weights.stem = reader.tower_block("stem", 0);
  for (std::size_t i = 1; i < config.channels.size(); ++i)
    weights.tower.push_back(reader.tower_block(fmt::format("conv_tower.{}", i - 1), i));
  for (std::int64_t i = 0; i < config.n_blocks; ++i)
    weights.blocks.push_back(reader.attention_block(fmt::format("transformer.{}", i)));
  weights.last = reader.conv_block("final_pointwise.1", config.embedding_width(), config.width, 1);
  for (const HeadChoice& choice : options.heads) weights.heads.push_back({reader.head(choice)});
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
