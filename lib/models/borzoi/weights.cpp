#include "lib/models/borzoi/weights.hpp"

#include <fmt/format.h>

#include <string>

#include "lib/models/borzoi/positions.hpp"
#include "lib/models/layers/tower_reach.hpp"

namespace biogpu::models::borzoi {
namespace {

using tensor::Context;
using tensor::DType;
using tensor::Tensor;
using tensor::WeightTable;

constexpr double kNormEps = 0.001;       // of both normalisations
constexpr double kRotaryBase = 20000.0;  // of Flashzoi

ConvBlock take_block(ConvReader& convs, const std::string& name, std::int64_t n_out,
                     std::int64_t n_in, std::int64_t n_taps) {
  return convs.block(name + ".norm", name + ".conv_layer", n_out, n_in, n_taps);
}

// index: from 1, of all convolutions.
ConvBlock take_tower_block(const Config& config, ConvReader& convs, std::int64_t index) {
  const auto i = static_cast<std::size_t>(index);
  const bool is_last = index + 1 == config.n_levels();
  const std::string name = is_last ? "unet1.1" : fmt::format("res_tower.{}", 2 * (index - 1));
  return take_block(convs, name, config.channels[i], config.channels[i - 1], kTowerTaps);
}

UpBlock take_up_block(const Config& config, ConvReader& convs, std::int64_t index) {
  const std::int64_t level = config.n_levels() - config.n_skips() + index, d = config.width;
  UpBlock block;
  block.across = take_block(convs, fmt::format("horizontal_conv{}", index), d,
                            config.channels[static_cast<std::size_t>(level)], 1);
  block.up = take_block(convs, fmt::format("upsampling_unet{}.0", index), d, d, 1);
  const std::string separable = fmt::format("separable{}.conv_layer.", index);
  block.depthwise = convs.depthwise(separable + "0", d, kSeparableTaps);
  block.pointwise = convs.conv(separable + "1", d, d, 1);
  return block;
}

DnaTransformerBlock take_attention_block(const Config& config, WeightTable& table,
                                         DnaTransformerReader& reader, std::int64_t index) {
  const std::string name = fmt::format("transformer.{}", index);
  if (!config.is_flash) return reader.relative_block(name, kFeatures);
  table.ignore(name + ".0.fn.1.mha.rotary_emb.inv_freq");
  return reader.rotary_block(name);
}

// What attention knows of distances, computed when all weights are known to fit.
void set_distances(const Config& config, Context& context, DnaTransformerReader& reader,
                   std::vector<DnaTransformerBlock>& blocks) {
  const std::int64_t n = config.n_positions();
  if (!config.is_flash)
    return reader.set_relative(central_mask_features(n, kFeatures, kMaxPositions), blocks);
  std::vector<float> angles = rotary_table(n, config.n_rotated, kRotaryBase);
  const Tensor table =
      context.upload(Tensor(angles.data(), DType::f32, {n, config.n_rotated}), DType::f32);
  for (DnaTransformerBlock& block : blocks) block.rotary.cos_sin = table;
}

}  // namespace

DnaTransformerShape transformer_shape(const Config& config) {
  return {config.width, config.n_heads, config.n_key_heads,
          config.d_key, config.d_value, static_cast<float>(kNormEps)};
}

Weights read_weights(const Config& config, const std::vector<HeadChoice>& heads, WeightTable& table,
                     Context& context) {
  ConvReader convs(table, context, kNormEps);
  DnaTransformerReader transformer(transformer_shape(config), table, context);
  Weights weights;
  weights.letters = convs.letters("conv_dna.conv_layer", config.channels[0], kLetterTaps);
  for (std::int64_t i = 1; i < config.n_levels(); ++i)
    weights.tower.push_back(take_tower_block(config, convs, i));
  for (std::int64_t i = 0; i < config.n_blocks; ++i)
    weights.blocks.push_back(take_attention_block(config, table, transformer, i));
  for (std::int64_t i = 0; i < config.n_skips(); ++i)
    weights.ups.push_back(take_up_block(config, convs, i));
  weights.last = take_block(convs, "final_joined_convs.0", config.final_width, config.width, 1);
  for (const HeadChoice& choice : heads)
    weights.heads.push_back(
        {take_head(table, context,
                   {choice.name + "_head", find_head(config.heads, choice.name)->n_tracks,
                    config.final_width, true},
                   choice.tracks)});
  // Heads that were not chosen, or that config.json switches off, as borzoi-pytorch does.
  for (const char* part : {"_head.weight", "_head.bias"}) {
    for (const char* head : {"human", "mouse"}) table.ignore(std::string(head) + part);
    for (const TrackHead& head : config.heads) table.ignore(head.name + part);
  }
  table.finish();
  convs.require_variances();
  if (table.maps() == WeightTable::Maps::read)
    set_distances(config, context, transformer, weights.blocks);
  return weights;
}

}  // namespace biogpu::models::borzoi
