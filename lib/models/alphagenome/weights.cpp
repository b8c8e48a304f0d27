#include "lib/models/alphagenome/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/models/alphagenome/head_weights.hpp"
#include "lib/models/alphagenome/weight_reader.hpp"
#include "lib/ops/convolution/conv_weights.hpp"

namespace biogpu::models::alphagenome {
namespace {

using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;

class TrunkReader {
 public:
  explicit TrunkReader(WeightReader& reader) : reader_(reader), config_(reader.config()) {}
  Weights read();

 private:
  PairUpdate pair_update(const std::string& name);
  TowerBlock tower_block(std::int64_t index);
  UpBlock up_block(std::int64_t index);
  void embedders(Weights& weights);
  Tensor rotary();

  WeightReader& reader_;
  const Config& config_;
};

PairUpdate TrunkReader::pair_update(const std::string& name) {
  const std::int64_t width = config_.width(), pair = config_.pair_channels;
  const std::int64_t heads = config_.n_pair_heads, d = config_.pair_head_dim;
  const std::string s = name + ".seq2pair.", r = name + ".row_attn.", m = name + ".pair_mlp.";
  PairUpdate made;
  made.input_norm = reader_.norm(s + "norm_seq2pair", width);
  made.query = reader_.linear(s + "linear_q", heads * d, width, false);
  made.key = reader_.linear(s + "linear_k", heads * d, width, false);
  for (const auto& [key, bias] :
       {std::pair{"q_r_bias", &made.query_bias}, {"k_r_bias", &made.key_bias}}) {
    const HostTensor read = reader_.table().take(s + key, {1, 1, heads, d});
    *bias = reader_.context().upload(Tensor(read.view.data, DType::f32, {heads, d}), DType::f32);
  }
  made.positions =
      reader_.linear(s + "linear_pos_features", heads * d, config_.n_position_features, true);
  made.heads = reader_.linear(s + "linear_pair", pair, heads, true);
  Matrix sides = reader_.matrix(s + "linear_y_q", pair, width, false);
  sides.append(reader_.matrix(s + "linear_y_k", pair, width, false));
  made.sides = reader_.upload(sides);
  made.row_norm = reader_.norm(r + "norm", pair);
  Matrix qkv = reader_.matrix(r + "linear_q", pair, pair, false);
  for (double& w : qkv.weight) w /= std::sqrt(static_cast<double>(pair));
  qkv.append(reader_.matrix(r + "linear_k", pair, pair, false));
  qkv.append(reader_.matrix(r + "linear_v", pair, pair, true));
  made.row_qkv = reader_.upload(qkv);
  made.mlp_norm = reader_.norm(m + "norm", pair);
  made.mlp_up = reader_.linear(m + "linear1", 2 * pair, pair, true);
  made.mlp_down = reader_.linear(m + "linear2", pair, 2 * pair, true);
  return made;
}

TowerBlock TrunkReader::tower_block(std::int64_t index) {
  const std::int64_t width = config_.width();
  const std::string name = fmt::format("tower.blocks.{}.", index), a = name + "mha.",
                    f = name + "mlp.";
  TowerBlock block;
  if (index % 2 == 0) block.pair_update = pair_update(name + "pair_update");
  block.bias_norm = reader_.affine(reader_.scaling(name + "attn_bias.norm", config_.pair_channels));
  block.bias =
      reader_.linear(name + "attn_bias.proj", config_.n_heads, config_.pair_channels, false);

  const Scaling by = reader_.scaling(a + "norm", width);
  Matrix query = reader_.matrix(a + "q_proj", config_.n_heads * config_.d_key, width, false);
  query.halve_pairs(config_.d_key);
  query.fold_input(by);
  block.query = reader_.upload(query);
  Matrix key_value = reader_.matrix(a + "k_proj", config_.d_key, width, false);
  key_value.halve_pairs(config_.d_key);
  key_value.append(reader_.matrix(a + "v_proj", config_.d_value, width, false));
  key_value.fold_input(by);
  block.key_value = reader_.upload(key_value);
  block.query_norm = reader_.norm(a + "norm_q", config_.d_key, true);
  block.key_norm = reader_.norm(a + "norm_k", config_.d_key, true);
  block.value_norm = reader_.norm(a + "norm_v", config_.d_value);
  Matrix out =
      reader_.matrix(a + "linear_embedding", width, config_.n_heads * config_.d_value, true);
  out.fold_output(reader_.scaling(a + "final_norm", width));
  block.attention_out = reader_.upload(out);

  Matrix up = reader_.matrix(f + "fc1", 2 * width, width, true);
  up.fold_input(reader_.scaling(f + "norm", width));
  block.ffn_up = reader_.upload(up);
  Matrix down = reader_.matrix(f + "fc2", width, 2 * width, true);
  down.fold_output(reader_.scaling(f + "final_norm", width));
  block.ffn_down = reader_.upload(down);
  return block;
}

UpBlock TrunkReader::up_block(std::int64_t index) {
  const std::string name = fmt::format("decoder.up_blocks.{}.", index);
  const std::int64_t level = config_.n_down_blocks - index;
  const std::int64_t n_in = config_.channels(std::min(level + 1, config_.n_down_blocks));
  const std::int64_t channels = config_.channels(level);
  UpBlock block;
  block.residual_scale = static_cast<float>(reader_.vector(name + "residual_scale", 1)[0]);
  block.conv_in = reader_.conv_block(name + "conv_in", channels, n_in);
  block.skip = reader_.point_block(name + "pointwise", channels);
  block.conv_out = reader_.conv_block(name + "conv_out", channels, channels);
  return block;
}

void TrunkReader::embedders(Weights& weights) {
  const std::int64_t fine = config_.fine_width(), coarse = config_.coarse_width();
  const auto with_organism = [&](const std::string& name, std::int64_t n) {
    Scaling by = reader_.scaling(name + ".norm", n);
    if (config_.n_organisms == 0) return by;
    const std::vector<double> more = reader_.of_organism(name + ".organism_embed.weight", n);
    for (std::size_t i = 0; i < more.size(); ++i) by.shift[i] += more[i];
    return by;
  };
  Matrix project = reader_.matrix("embedder_128bp.project_in", coarse, config_.width(), true, 3);
  project.fold_output(with_organism("embedder_128bp", coarse));
  weights.coarse_project = reader_.upload(project);
  // The norm follows the sum of both maps: its scale is in both, its shift in one.
  Scaling by = with_organism("embedder_1bp", fine);
  project = reader_.matrix("embedder_1bp.project_in", fine, config_.n_channels, true, 3);
  project.fold_output(by);
  weights.fine_project = reader_.upload(project);
  Matrix skip = reader_.matrix("embedder_1bp.project_skip", fine, coarse, false, 3);
  by.shift.assign(by.shift.size(), 0.0);
  skip.fold_output(by);
  weights.fine_skip = reader_.upload(skip);
  weights.pair_norm = reader_.norm(
      "embedder_pair.norm", config_.pair_channels, false,
      config_.n_organisms == 0
          ? std::vector<double>()
          : reader_.of_organism("embedder_pair.organism_embed.weight", config_.pair_channels));
}

// Angles pos / (i + b^(i / (d / 2 - 1))), b = positions - d / 2 + 1: cosines, then sines.
Tensor TrunkReader::rotary() {
  const std::int64_t half = config_.d_key / 2;
  std::vector<double> table(static_cast<std::size_t>(kMaxPositions * config_.d_key));
  for (std::int64_t p = 0; p < kMaxPositions; ++p)
    for (std::int64_t i = 0; i < half; ++i) {
      const double exponent =
          half == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(half - 1);
      const double width = static_cast<double>(i) +
                           std::pow(static_cast<double>(kMaxPositions - half) + 1, exponent);
      const double angle = static_cast<double>(p) / width;
      const auto at = static_cast<std::size_t>(p * config_.d_key + i);
      table[at] = std::cos(angle);
      table[at + static_cast<std::size_t>(half)] = std::sin(angle);
    }
  return reader_.upload(table, {kMaxPositions, config_.d_key});
}

Weights TrunkReader::read() {
  Weights weights;
  const HostTensor first = reader_.table().take("encoder.dna_embedder.conv1.weight",
                                                {config_.n_channels, 4, kLetterTaps});
  std::vector<float> letters = ops::letter_table(first.view);
  weights.letters.table = reader_.context().upload(
      Tensor(letters.data(), DType::f32, {kLetterTaps, ops::kLetterCodes, config_.n_channels}),
      DType::f32);
  weights.letters.bias = reader_.upload(
      reader_.vector("encoder.dna_embedder.conv1.bias", config_.n_channels), {config_.n_channels});
  weights.first =
      reader_.conv_block("encoder.dna_embedder.block", config_.n_channels, config_.n_channels);
  for (std::int64_t i = 0; i < config_.n_down_blocks; ++i) {
    const std::string name = fmt::format("encoder.down_blocks.{}.", i);
    const std::int64_t n_in = config_.channels(i), n_out = config_.channels(i + 1);
    weights.down.push_back({reader_.conv_block(name + "block1", n_out, n_in),
                            reader_.conv_block(name + "block2", n_out, n_out)});
  }
  if (config_.n_organisms > 0)
    weights.organism = reader_.upload(reader_.of_organism("organism_embed.weight", config_.width()),
                                      {config_.width()});
  for (std::int64_t i = 0; i < config_.n_tower_blocks; ++i) weights.tower.push_back(tower_block(i));
  for (std::int64_t i = 0; i <= config_.n_down_blocks; ++i) weights.up.push_back(up_block(i));
  embedders(weights);
  weights.rotary = rotary();
  return weights;
}

}  // namespace

Weights read_weights(const Config& config, const WeightOptions& options, tensor::WeightTable& table,
                     tensor::Context& context) {
  WeightReader reader(config, options.organism, table, context);
  Weights weights = TrunkReader(reader).read();
  weights.heads = read_heads(reader, options.heads);
  for (const HeadChoice& choice : options.heads)
    if (choice.name == kJunctions) weights.junctions = read_junctions(reader, choice.tracks);
  reader.finish();
  return weights;
}

}  // namespace biogpu::models::alphagenome
