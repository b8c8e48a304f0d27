#include "lib/models/alphagenome/head_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"

namespace biogpu::models::alphagenome {
namespace {

using ops::Map;
using ops::MapCode;
using tensor::Tensor;

constexpr float kCapAt = 10;           // softplus values above it are stored as a root
constexpr double kSquashPower = 0.75;  // of RNA_SEQ

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// Rows of a map, and of other columns, that were chosen.
Matrix rows_of(const Matrix& all, const std::vector<std::int64_t>& rows) {
  if (rows.empty()) return all;
  Matrix made{static_cast<std::int64_t>(rows.size()), all.n_in, {}, {}};
  for (const std::int64_t row : rows) {
    const auto from = all.weight.begin() + row * all.n_in;
    made.weight.insert(made.weight.end(), from, from + all.n_in);
    made.bias.push_back(all.bias[static_cast<std::size_t>(row)]);
  }
  return made;
}

std::vector<double> columns_of(const std::vector<double>& all,
                               const std::vector<std::int64_t>& columns) {
  if (columns.empty()) return all;
  std::vector<double> made;
  made.reserve(columns.size());
  for (const std::int64_t column : columns) made.push_back(all[static_cast<std::size_t>(column)]);
  return made;
}

// What follows softplus(x W^T + b) of a track: times its scale, values above 10 as
// (u + 10)^2 / 40, squashed ones to the power of 4/3, times the mean of what the track was divided
// by. scale, mean: f32 [tracks].
void finish_tracks(tensor::Context& context, const Tensor& tracks, const Tensor& scale,
                   const Tensor& mean, bool is_squashed) {
  constexpr std::uint8_t kNumber = Map::kNumber, kScaled = Map::kKept, kWide = Map::kKept + 1;
  Map map = ops::make_map({tracks, scale, mean},
                          {{MapCode::multiply, 1},
                           {MapCode::keep, kScaled},
                           {MapCode::add, kNumber, 0, kCapAt},
                           {MapCode::multiply, Map::kCurrent},
                           {MapCode::multiply, kNumber, 0, 1 / (4 * kCapAt)},
                           {MapCode::keep, kWide},
                           {MapCode::load, kScaled},
                           {MapCode::greater, kNumber, 0, kCapAt},
                           {MapCode::select, kWide, kScaled}},
                          tracks);
  const auto then = [&](const ops::MapStep& step) {
    map.steps[static_cast<std::size_t>(map.n_steps++)] = step;
  };
  if (is_squashed) then({MapCode::power, kNumber, 0, static_cast<float>(1 / kSquashPower)});
  then({MapCode::multiply, 2});
  ops::map(context, map);
}

class HeadReader {
 public:
  explicit HeadReader(WeightReader& reader) : reader_(reader), config_(reader.config()) {}
  HeadLayer read(const HeadChoice& choice);
  void ignore_others();

 private:
  HeadLayer tracks(const TrackHeadShape& shape, bool is_fine,
                   const std::vector<std::int64_t>& rows);

  WeightReader& reader_;
  const Config& config_;
};

HeadLayer HeadReader::tracks(const TrackHeadShape& shape, bool is_fine,
                             const std::vector<std::int64_t>& rows) {
  const std::string stored = "heads." + shape.name + ".", resolution = is_fine ? "1" : "128";
  const std::int64_t n_in = is_fine ? config_.fine_width() : config_.coarse_width();
  HeadLayer layer;
  layer.linear = reader_.upload(
      rows_of(reader_.organism_matrix(stored + "convs." + resolution, shape.n_tracks, n_in), rows));
  std::vector<double> scale = columns_of(
      reader_.of_organism(stored + "residual_scales." + resolution, shape.n_tracks), rows);
  for (double& s : scale) s = softplus(s);
  std::vector<double> mean(scale.size(), 1.0);
  // A fine-tuned model may have none: its tracks are as they are.
  if (reader_.table().has(stored + "track_means"))
    mean = columns_of(reader_.of_organism(stored + "track_means", shape.n_tracks), rows);
  for (double& m : mean) m *= static_cast<double>(is_fine ? 1 : config_.coarse_bin());
  const auto n = static_cast<std::int64_t>(scale.size());
  layer.post_process = [scales = reader_.upload(scale, {n}), means = reader_.upload(mean, {n}),
                        is_squashed = shape.is_squashed](tensor::Context& context,
                                                         const Tensor& x) {
    finish_tracks(context, x, scales, means, is_squashed);
  };
  return layer;
}

HeadLayer HeadReader::read(const HeadChoice& choice) {
  HeadLayer layer;
  if (choice.name == kSpliceSites) return read_splice_sites(reader_, choice.tracks);
  if (choice.name == kContactMaps) {
    layer.linear = reader_.upload(
        rows_of(reader_.organism_matrix_by_input("contact_maps_head.linear", config_.contact_tracks,
                                                 config_.pair_channels),
                choice.tracks));
    return layer;
  }
  if (choice.name == kSpliceUsage) {
    layer.linear =
        reader_.upload(rows_of(reader_.organism_matrix("splice_sites_usage_head.conv",
                                                       config_.usage_tracks, config_.fine_width()),
                               choice.tracks));
    layer.post_process = [](tensor::Context& context, const Tensor& x) {
      ops::map(context, ops::map_function(MapCode::sigmoid, x, x));
    };
    return layer;
  }
  if (choice.name == kJunctions) return layer;  // read_junctions()
  for (const TrackHeadShape& shape : config_.track_heads)
    for (const bool is_fine : {true, false})
      if (choice.name == shape.name + (is_fine ? "/1" : "/128"))
        return tracks(shape, is_fine, choice.tracks);
  throw std::out_of_range("no head " + choice.name);
}

// Known tensors of heads that were not chosen.
void HeadReader::ignore_others() {
  for (const TrackHeadShape& shape : config_.track_heads) {
    const std::string stored = "heads." + shape.name + ".";
    reader_.table().ignore(stored + "track_means");
    for (const char* const resolution : {"1", "128"})
      for (const char* const part : {"convs.{}.weight", "convs.{}.bias", "residual_scales.{}"})
        reader_.table().ignore(stored + fmt::format(fmt::runtime(part), resolution));
  }
  for (const char* const name :
       {"contact_maps_head.linear", "splice_sites_classification_head.conv",
        "splice_sites_usage_head.conv", "splice_sites_junction_head.conv"})
    for (const char* const part : {".weight", ".bias"})
      reader_.table().ignore(std::string(name) + part);
  for (const char* const side : {"pos_donor", "pos_acceptor", "neg_donor", "neg_acceptor"})
    reader_.table().ignore(std::string("splice_sites_junction_head.rope_params.") + side);
}

}  // namespace

HeadLayer read_splice_sites(WeightReader& reader, const std::vector<std::int64_t>& rows) {
  const tensor::Linear all = reader.upload(reader.organism_matrix(
      "splice_sites_classification_head.conv", kSpliceClasses, reader.config().fine_width()));
  HeadLayer layer;
  layer.linear.n_out = rows.empty() ? kSpliceClasses : std::ssize(rows);
  layer.compute = [all, rows](Pass& pass, const Tensor& embedding, const Tensor& out) {
    tensor::Context& context = pass.context();
    const auto scope = pass.arena().scope();
    const Tensor logits =
        rows.empty() ? out
                     : pass.arena().take(tensor::DType::f32, {embedding.shape[0], kSpliceClasses});
    ops::gemm(context, {embedding, &all, ops::Activation::none, {}, logits});
    ops::log_softmax(context, {logits});
    if (rows.empty()) {
      ops::map(context, ops::map_function(MapCode::exp, logits, out));
      return;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto to = static_cast<std::int64_t>(i);
      ops::map(context, ops::map_function(MapCode::exp, logits.slice(1, rows[i], rows[i] + 1),
                                          out.slice(1, to, to + 1)));
    }
  };
  return layer;
}

std::vector<HeadLayer> read_heads(WeightReader& reader, const std::vector<HeadChoice>& choices) {
  HeadReader heads(reader);
  std::vector<HeadLayer> layers;
  layers.reserve(choices.size());
  for (const HeadChoice& choice : choices) layers.push_back(heads.read(choice));
  heads.ignore_others();
  return layers;
}

}  // namespace biogpu::models::alphagenome
