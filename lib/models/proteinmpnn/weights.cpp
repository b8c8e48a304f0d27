#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "lib/core/error.hpp"
#include "lib/models/model_config.hpp"
#include "lib/models/proteinmpnn/model.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr std::int64_t kInner = 4 * kHidden;
// Edges of a residue. Published models have 48 and fewer; no weight tells the number, and memory
// grows with it.
constexpr std::int64_t kMaxNeighbours = 128;
constexpr std::int64_t kPositions = 66;
constexpr std::int64_t kPositionWidth = 16;
constexpr float kScale = 1.0f / 30.0f;  // of a sum of messages

class Loader {
 public:
  Loader(const tensor::Checkpoint& checkpoint, bool ca_only) : table_(checkpoint) {
    // Published CA-only checkpoints have these, and the original's CA-only forward pass does not
    // read them. Elsewhere they are inputs of the encoder: those of membrane models, which are
    // another model.
    if (!ca_only) return;
    for (const char* name : {"features.node_embedding.weight", "features.norm_nodes.weight",
                             "features.norm_nodes.bias", "W_v.weight", "W_v.bias"})
      table_.ignore(name);
  }

  std::vector<float> take(const std::string& name, std::initializer_list<std::int64_t> shape) {
    const tensor::HostTensor taken = table_.take(name, shape);
    return {taken.values.begin(), taken.values.end()};
  }

  cpu::Dense dense(const std::string& name, std::int64_t n_out, std::int64_t n_in) {
    return cpu::make_dense(n_out, n_in, take(name + ".weight", {n_out, n_in}).data(),
                           take(name + ".bias", {n_out}).data());
  }

  cpu::Norm norm(const std::string& name) {
    return {take(name + ".weight", {kHidden}), take(name + ".bias", {kHidden})};
  }

  // names: first, middle and last layer. The first takes receiver, edge, (letter,) neighbour.
  // letters: embedding of letters, and where what they add goes.
  Message message(const std::string& layer, const char* const (&names)[3], bool summed,
                  const std::vector<float>* embedding, std::vector<float>* letters) {
    const std::int64_t n_parts = embedding == nullptr ? 3 : 4, width = n_parts * kHidden;
    const auto first = take(layer + names[0] + ".weight", {kHidden, width});
    const auto part = [&](std::int64_t p) {
      std::vector<float> rows;
      for (std::int64_t row = 0; row < kHidden; ++row) {
        const auto begin = first.begin() + row * width + p * kHidden;
        rows.insert(rows.end(), begin, begin + kHidden);
      }
      return rows;
    };
    std::vector<float> ends = part(0), bias = take(layer + names[0] + ".bias", {kHidden});
    const std::vector<float> neighbour = part(n_parts - 1);
    ends.insert(ends.end(), neighbour.begin(), neighbour.end());
    bias.resize(2 * kHidden, 0.0f);
    Message message;
    message.ends = cpu::make_dense(2 * kHidden, kHidden, ends.data(), bias.data());
    message.edge = cpu::make_dense(kHidden, kHidden, part(1).data(), nullptr);
    message.middle = dense(layer + names[1], kHidden, kHidden);
    message.last =
        summed ? summed_dense(layer + names[2]) : dense(layer + names[2], kHidden, kHidden);
    if (embedding != nullptr) *letters = project(*embedding, part(2));
    return message;
  }

  FeedForward feed_forward(const std::string& layer) {
    return {norm(layer + "norm1"), norm(layer + "norm2"),
            dense(layer + "dense.W_in", kInner, kHidden),
            dense(layer + "dense.W_out", kHidden, kInner)};
  }

  void finish() { table_.finish(); }

  // rows [m, width] times the transpose of weight [kHidden, width].
  static std::vector<float> project(const std::vector<float>& rows,
                                    const std::vector<float>& weight) {
    const std::size_t width = weight.size() / kHidden, n = rows.size() / width;
    std::vector<float> out(n * kHidden);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t o = 0; o < kHidden; ++o) {
        double sum = 0;
        for (std::size_t d = 0; d < width; ++d)
          sum +=
              static_cast<double>(rows[i * width + d]) * static_cast<double>(weight[o * width + d]);
        out[i * kHidden + o] = static_cast<float>(sum);
      }
    return out;
  }

 private:
  // The layer after a sum of n messages over 30: its bias counts n times.
  cpu::Dense summed_dense(const std::string& name) {
    const auto weight = take(name + ".weight", {kHidden, kHidden});
    const auto bias = take(name + ".bias", {kHidden});
    std::vector<float> wider;
    for (std::size_t row = 0; row < kHidden; ++row) {
      for (std::size_t c = 0; c < kHidden; ++c) wider.push_back(kScale * weight[row * kHidden + c]);
      wider.push_back(kScale * bias[row]);
    }
    return cpu::make_dense(kHidden, kHidden + 1, wider.data(), nullptr);
  }

  tensor::WeightTable table_;
};

void load_features(Loader& loader, Weights& weights) {
  const std::int64_t others = weights.ca_only ? 9 * cpu::kBasis + 7 : 25 * cpu::kBasis;
  const auto width = kPositionWidth + others;
  const auto embedding =
      loader.take("features.embeddings.linear.weight", {kPositionWidth, kPositions});
  const auto bias = loader.take("features.embeddings.linear.bias", {kPositionWidth});
  const auto mixed = loader.take("features.edge_embedding.weight", {kHidden, width});
  std::vector<float> rows, of_positions, of_others;
  for (std::size_t p = 0; p < kPositions; ++p)
    for (std::size_t c = 0; c < kPositionWidth; ++c)
      rows.push_back(embedding[c * kPositions + p] + bias[c]);
  for (std::int64_t row = 0; row < kHidden; ++row) {
    const auto begin = mixed.begin() + row * width;
    of_positions.insert(of_positions.end(), begin, begin + kPositionWidth);
    of_others.insert(of_others.end(), begin + kPositionWidth, begin + width);
  }
  weights.positions = Loader::project(rows, of_positions);
  weights.features = cpu::make_dense(kHidden, others, of_others.data(), nullptr);
  weights.feature_norm = loader.norm("features.norm_edges");
  weights.edges = loader.dense("W_e", kHidden, kHidden);
}

std::string describe(const std::string& folder) {
  const Weights weights = load_weights(folder);
  std::int64_t n_parameters = 0;
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  for (const auto& [name, tensor] : checkpoint.tensors()) n_parameters += tensor.size();
  return fmt::format(
      "architecture\tproteinmpnn\nname\t{}\nencoder_layers\t{}\ndecoder_layers\t{}\n"
      "width\t{}\nneighbours\t{}\nparameters\t{}\natoms\t{}\nnoise_in_training\t{}\n"
      "vocabulary\t{}\n",
      weights.name, weights.encoder.size(), weights.decoder.size(), kHidden, weights.n_neighbours,
      n_parameters, weights.ca_only ? "CA" : "N CA C O", weights.noise_level,
      fmt::join(kLetters, " "));
}

}  // namespace

Weights load_weights(const std::string& folder) {
  const ModelConfig config(folder);
  if (config.text_or("model_type", "") != "proteinmpnn")
    config.fail("model_type is not proteinmpnn; scripts/convert/proteinmpnn.py makes such folders");
  const tensor::Checkpoint checkpoint = tensor::Checkpoint::open(folder);
  Weights weights;
  weights.n_neighbours = config.count("num_edges", kMaxNeighbours);
  weights.ca_only = config.flag_or("ca_only", false);
  weights.noise_level = config.number_or("noise_level", 0);
  weights.name = config.text_or("name", "proteinmpnn");
  Loader loader(checkpoint, weights.ca_only);
  load_features(loader, weights);
  const auto letters = loader.take("W_s.weight", {kLetterCount, kHidden});
  for (std::size_t l = 0; l < kLayers; ++l) {
    const std::string encoder = fmt::format("encoder_layers.{}.", l);
    weights.encoder.push_back(
        {loader.message(encoder, {"W1", "W2", "W3"}, true, nullptr, nullptr),
         loader.feed_forward(encoder),
         loader.message(encoder, {"W11", "W12", "W13"}, false, nullptr, nullptr),
         loader.norm(encoder + "norm3")});
    const std::string decoder = fmt::format("decoder_layers.{}.", l);
    DecoderLayer layer;
    layer.message = loader.message(decoder, {"W1", "W2", "W3"}, true, &letters, &layer.letters);
    layer.residue = loader.feed_forward(decoder);
    weights.decoder.push_back(std::move(layer));
  }
  weights.logits = loader.dense("W_out", kLetterCount, kHidden);
  loader.finish();
  return weights;
}

ModelDef proteinmpnn_model() {
  return {"proteinmpnn", "ProteinMPNN", Reads::structures, {"score", "design"}, nullptr, describe};
}

}  // namespace biogpu::models::proteinmpnn
