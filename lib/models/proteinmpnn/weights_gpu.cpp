// Weights of ProteinMPNN on a device.
#include "lib/models/proteinmpnn/weights_gpu.hpp"

#include <algorithm>

#include "gpu/models/proteinmpnn/pack.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr auto kWidth = static_cast<std::size_t>(kHidden);

std::vector<float> bias_of(const cpu::Dense& layer) {
  return {layer.bias.begin(), layer.bias.begin() + static_cast<std::ptrdiff_t>(layer.n_out)};
}

}  // namespace

DeviceWeights::DeviceWeights(const Weights& weights, gpu::Stream& stream) : stream_(stream) {
  put_features(weights);
  put_encoder(weights);
  put_decoder(weights);
  stream_.synchronize();
}

std::uint64_t DeviceWeights::device_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& buffer : floats_) sum += buffer.bytes();
  for (const auto& buffer : words_) sum += buffer.bytes();
  return sum;
}

const float* DeviceWeights::put(const std::vector<float>& values) {
  floats_.emplace_back(values.size());
  stream_.copy_to_device(floats_.back().data(), values.data(), values.size() * sizeof(float));
  stream_.synchronize();  // the values may be a caller's for a moment only
  return floats_.back().data();
}

gpu::proteinmpnn::Norm DeviceWeights::put(const cpu::Norm& norm) {
  return {put(norm.weight), put(norm.bias)};
}

gpu::proteinmpnn::Product DeviceWeights::product(const cpu::Dense& layer) {
  const int n_in = static_cast<int>(layer.n_in);
  words_.emplace_back(gpu::proteinmpnn::pack_words(n_in));
  gpu::proteinmpnn::launch_pack(put(layer.weight), n_in, words_.back().data(), stream_);
  stream_.synchronize();
  floats_.pop_back();
  return {words_.back().data(), put(bias_of(layer)), gpu::proteinmpnn::pack_steps(n_in)};
}

gpu::proteinmpnn::Columns DeviceWeights::columns(const std::vector<float>& rows, std::size_t n_in,
                                                 const std::vector<float>& bias) {
  const std::size_t n_out = rows.size() / n_in;
  std::vector<float> packed(rows.size());
  for (std::size_t o = 0; o < n_out; ++o)
    for (std::size_t k = 0; k < n_in; ++k)
      packed[(k / 4 * n_out + o) * 4 + k % 4] = rows[o * n_in + k];
  return {put(packed), put(bias)};
}

gpu::proteinmpnn::Columns DeviceWeights::columns(const cpu::Dense& layer) {
  return columns(layer.weight, static_cast<std::size_t>(layer.n_in), bias_of(layer));
}

// The last column is that of the number of messages.
gpu::proteinmpnn::Columns DeviceWeights::summed_columns(const cpu::Dense& layer) {
  std::vector<float> rows, bias;
  for (auto row = layer.weight.begin(); row != layer.weight.end(); row += kHidden + 1) {
    rows.insert(rows.end(), row, row + kHidden);
    bias.push_back(row[kHidden]);
  }
  return columns(rows, kWidth, bias);
}

gpu::proteinmpnn::Update DeviceWeights::update(const Message& message, const FeedForward& residue) {
  return {summed_columns(message.last), columns(residue.in), columns(residue.out),
          put(residue.before), put(residue.after)};
}

void DeviceWeights::put_features(const Weights& weights) {
  const AtomPairs pairs = atom_pairs(weights.ca_only);
  features_.n_pairs = static_cast<int>(pairs.size());
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    features_.pairs[p][0] = pairs[p].first;
    features_.pairs[p][1] = pairs[p].second;
  }
  features_.has_orientation = weights.ca_only;
  features_.features = product(weights.features);
  features_.positions = put(weights.positions);
  features_.norm = put(weights.feature_norm);
  features_.edges = product(weights.edges);
  features_.first_bias = put(bias_of(weights.encoder[0].message.ends));
}

void DeviceWeights::put_encoder(const Weights& weights) {
  for (std::size_t l = 0; l < kLayers; ++l) {
    const EncoderLayer& from = weights.encoder[l];
    gpu::proteinmpnn::EncoderLayer& to = encoder_[l];
    to.edge = product(from.message.edge);
    to.middle = product(from.message.middle);
    to.update = update(from.message, from.residue);
    to.edge_ends = columns(from.edge.ends);
    to.edge_edge = product(from.edge.edge);
    to.edge_middle = product(from.edge.middle);
    to.edge_last = product(from.edge.last);
    to.edge_norm = put(from.edge_norm);
    if (l + 1 < kLayers) to.next_ends = columns(weights.encoder[l + 1].message.ends);
  }
}

void DeviceWeights::put_decoder(const Weights& weights) {
  for (std::size_t l = 0; l < kLayers; ++l) {
    const DecoderLayer& from = weights.decoder[l];
    gpu::proteinmpnn::DecoderLayer& to = decoder_.layer[l];
    to.edge = product(from.message.edge);
    to.middle = product(from.message.middle);
    to.update = update(from.message, from.residue);
    to.ends = columns(from.message.ends);
    to.letters = put(from.letters);
  }
  decoder_.logits = put(weights.logits.weight);
  decoder_.logit_bias = put(bias_of(weights.logits));
}

}  // namespace biogpu::models::proteinmpnn
