#include "lib/models/proteinmpnn/network/weights.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <vector>

#include "lib/models/proteinmpnn/ops/block_linear.hpp"
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using tensor::DType;

constexpr std::int64_t kInner = 4 * kHidden;
// Edges of a residue. Published models have 48 and fewer; no weight tells the number, and memory
// grows with it.
constexpr std::int64_t kMaxNeighbours = 128;
constexpr std::int64_t kPositionWidth = 16;
constexpr float kScale = 1.0f / 30.0f;  // of a sum of messages

// Numbers of a matrix [n, width] on the host.
struct Matrix {
  std::int64_t width = 0;
  std::vector<float> values;
  std::int64_t n() const { return static_cast<std::int64_t>(values.size()) / width; }
};

Matrix columns(const Matrix& from, std::int64_t begin, std::int64_t end) {
  Matrix part{end - begin, {}};
  for (auto row = from.values.begin(); row != from.values.end(); row += from.width)
    part.values.insert(part.values.end(), row + begin, row + end);
  return part;
}

Matrix stacked(std::initializer_list<const Matrix*> parts) {
  Matrix all{(*parts.begin())->width, {}};
  for (const Matrix* const part : parts)
    all.values.insert(all.values.end(), part->values.begin(), part->values.end());
  return all;
}

// rows [m, width] times the transpose of weight [n, width], each row behind `n_zeros` zeros.
Matrix project(const Matrix& rows, const Matrix& weight, std::int64_t n_zeros) {
  Matrix out{n_zeros + weight.n(), {}};
  for (std::int64_t i = 0; i < rows.n(); ++i) {
    out.values.insert(out.values.end(), static_cast<std::size_t>(n_zeros), 0.0f);
    for (std::int64_t o = 0; o < weight.n(); ++o) {
      double sum = 0;
      for (std::int64_t d = 0; d < rows.width; ++d)
        sum += static_cast<double>(rows.values[static_cast<std::size_t>(i * rows.width + d)]) *
               static_cast<double>(weight.values[static_cast<std::size_t>(o * rows.width + d)]);
      out.values.push_back(static_cast<float>(sum));
    }
  }
  return out;
}

class Reader {
 public:
  Reader(tensor::Context& context, tensor::WeightTable& table) : context_(context), table_(table) {}

  Matrix matrix(const std::string& name, std::int64_t n_out, std::int64_t n_in) {
    const tensor::HostTensor taken = table_.take(name, {n_out, n_in});
    return {n_in, {taken.values.begin(), taken.values.end()}};
  }
  std::vector<float> vector(const std::string& name, std::int64_t n) {
    const tensor::HostTensor taken = table_.take(name, {n});
    return {taken.values.begin(), taken.values.end()};
  }
  tensor::Norm norm(const std::string& name) {
    return table_.take_norm(context_, name, kHidden, 1e-5f);
  }

  Tensor upload(Matrix rows) {
    return context_.upload({rows.values.data(), DType::f32, {rows.n(), rows.width}}, DType::f32);
  }
  Linear block(BlockUse use, Matrix weight, std::vector<float> bias = {}) {
    return upload_block_linear(context_,
                               {weight.values.data(), DType::f32, {weight.n(), weight.width}},
                               bias_of(bias), use);
  }
  Linear rows(Matrix weight, std::vector<float> bias = {}) {
    return context_.upload_linear({weight.values.data(), DType::f32, {weight.n(), weight.width}},
                                  bias_of(bias));
  }
  Linear block(BlockUse use, const std::string& name, std::int64_t n_out, std::int64_t n_in,
               float scale = 1) {
    Matrix weight = matrix(name + ".weight", n_out, n_in);
    std::vector<float> bias = vector(name + ".bias", n_out);
    for (float& x : weight.values) x *= scale;
    for (float& x : bias) x *= scale;
    return block(use, std::move(weight), std::move(bias));
  }

  FeedForward feed_forward(const std::string& layer) {
    return {norm(layer + "norm1"), norm(layer + "norm2"),
            block(BlockUse::node, layer + "dense.W_in", kInner, kHidden),
            block(BlockUse::node, layer + "dense.W_out", kHidden, kInner)};
  }

 private:
  static Tensor bias_of(std::vector<float>& bias) {
    if (bias.empty()) return {};
    return {bias.data(), DType::f32, {static_cast<std::int64_t>(bias.size())}};
  }

  tensor::Context& context_;
  tensor::WeightTable& table_;
};

// The first layer of messages, which takes receiver, edge, (letter,) sender.
struct FirstLayer {
  Matrix edge, letter;      // letter: of the decoder alone
  Matrix node_proj;         // [2 d, d]
  std::vector<float> bias;  // of the ends: [2 d]

  FirstLayer(Reader& reader, const std::string& name, bool has_letters) {
    const std::int64_t n_parts = has_letters ? 4 : 3;
    const Matrix first = reader.matrix(name + ".weight", kHidden, n_parts * kHidden);
    const auto part = [&](std::int64_t p) {
      return columns(first, p * kHidden, (p + 1) * kHidden);
    };
    const Matrix receiver = part(0), sender = part(n_parts - 1);
    node_proj = stacked({&receiver, &sender});
    edge = part(1);
    if (has_letters) letter = part(2);
    bias = reader.vector(name + ".bias", kHidden);
    bias.resize(2 * kHidden, 0.0f);
  }
};

MessageMaps read_message(Reader& reader, const std::string& layer, const char* const (&names)[3],
                         bool summed) {
  const FirstLayer first(reader, layer + names[0], false);
  return {reader.block(BlockUse::node, first.node_proj, first.bias),
          reader.block(BlockUse::edges, first.edge),
          reader.block(BlockUse::edges, layer + names[1], kHidden, kHidden),
          reader.block(summed ? BlockUse::node : BlockUse::edges, layer + names[2], kHidden,
                       kHidden, summed ? kScale : 1)};
}

void read_features(Reader& reader, const Info& info, Weights& weights) {
  const std::int64_t others =
      info.ca_only ? 9 * EdgeEmbed::kBasis + EdgeEmbed::kOrientation : 25 * EdgeEmbed::kBasis;
  const auto width = kPositionWidth + others;
  const Matrix embedding =
      reader.matrix("features.embeddings.linear.weight", kPositionWidth, EdgeEmbed::kClasses);
  const auto bias = reader.vector("features.embeddings.linear.bias", kPositionWidth);
  const Matrix mixed = reader.matrix("features.edge_embedding.weight", kHidden, width);
  Matrix positions{kPositionWidth, {}};
  for (std::size_t p = 0; p < EdgeEmbed::kClasses; ++p)
    for (std::size_t c = 0; c < kPositionWidth; ++c)
      positions.values.push_back(embedding.values[c * EdgeEmbed::kClasses + p] + bias[c]);
  weights.positions = reader.upload(project(positions, columns(mixed, 0, kPositionWidth), 0));
  weights.features = reader.block(BlockUse::edges, columns(mixed, kPositionWidth, width));
  weights.feature_norm = reader.norm("features.norm_edges");
  weights.edges = reader.block(BlockUse::edges, "W_e", kHidden, kHidden);
}

void read_decoder(Reader& reader, Weights& weights) {
  const Matrix letters = reader.matrix("W_s.weight", kLetterCount, kHidden);
  Matrix all_edges{kHidden, {}}, all_node_proj{kHidden, {}};
  std::vector<float> all_bias;
  for (int l = 0; l < kLayers; ++l) {
    const std::string layer = fmt::format("decoder_layers.{}.", l);
    const FirstLayer first(reader, layer + "W1", true);
    all_edges = stacked({&all_edges, &first.edge});
    all_node_proj = stacked({&all_node_proj, &first.node_proj});
    all_bias.insert(all_bias.end(), first.bias.begin(), first.bias.end());
    DecoderWeights& to = weights.decoder[l];
    if (l > 0) to.message.node_proj = reader.block(BlockUse::node, first.node_proj, first.bias);
    to.message.middle = reader.block(BlockUse::edges, layer + "W2", kHidden, kHidden);
    to.message.last = reader.block(BlockUse::node, layer + "W3", kHidden, kHidden, kScale);
    to.residue = reader.feed_forward(layer);
    to.letters = reader.upload(project(letters, first.letter, kHidden));
  }
  weights.decoder_edges = reader.rows(all_edges);
  weights.decoder_node_proj = reader.block(BlockUse::node, all_node_proj, all_bias);
  const Matrix logits = reader.matrix("W_out.weight", kLetterCount, kHidden);
  const std::vector<float> bias = reader.vector("W_out.bias", kLetterCount);
  weights.logits = reader.rows(logits, bias);
  weights.logit_weight = reader.upload(logits);
  weights.logit_bias = reader.upload({kLetterCount, bias});
}

}  // namespace

Info read_info(const ModelConfig& config) {
  return {config.count("num_edges", kMaxNeighbours), config.flag_or("ca_only", false),
          config.number_or("noise_level", 0), config.text_or("name", "proteinmpnn")};
}

void read_weights(tensor::Context& context, tensor::WeightTable& table, const Info& info,
                  Weights& weights) {
  // Published CA-only checkpoints have these, and the original's CA-only forward pass does not read
  // them. Elsewhere they are inputs of the encoder: those of membrane models, which are another
  // model.
  if (info.ca_only)
    for (const char* name : {"features.node_embedding.weight", "features.norm_nodes.weight",
                             "features.norm_nodes.bias", "W_v.weight", "W_v.bias"})
      table.ignore(name);
  Reader reader(context, table);
  read_features(reader, info, weights);
  for (int l = 0; l < kLayers; ++l) {
    const std::string layer = fmt::format("encoder_layers.{}.", l);
    weights.encoder[l] = {
        read_message(reader, layer, {"W1", "W2", "W3"}, true), reader.feed_forward(layer),
        read_message(reader, layer, {"W11", "W12", "W13"}, false), reader.norm(layer + "norm3")};
  }
  read_decoder(reader, weights);
  table.finish();
}

}  // namespace biogpu::models::proteinmpnn
