#include "lib/models/molscribe/step_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace biogpu::models::molscribe {
namespace {

using tensor::HostTensor;

// Copies weights one behind the other to where the layout says.
class LayerWriter {
 public:
  LayerWriter(tensor::WeightTable& table, std::string prefix, float* layer)
      : table_(table), prefix_(std::move(prefix)), layer_(layer) {}

  void norm(std::int64_t place, const std::string& name, std::int64_t d) {
    copy(place, table_.take(prefix_ + name + ".weight", {d}));
    copy(place + d, table_.take(prefix_ + name + ".bias", {d}));
  }
  // Maps of one input: all weights, then all biases.
  void maps(std::int64_t place, std::initializer_list<const char*> names, std::int64_t n_out,
            std::int64_t n_in) {
    std::int64_t bias = place + std::ssize(names) * n_out * n_in;
    for (const char* name : names) {
      copy(place, table_.take(prefix_ + name + ".weight", {n_out, n_in}));
      copy(bias, table_.take(prefix_ + name + ".bias", {n_out}));
      place += n_out * n_in;
      bias += n_out;
    }
  }

 private:
  void copy(std::int64_t place, const HostTensor& from) {
    std::copy_n(from.values.data(), from.view.size(), layer_ + place);
  }

  tensor::WeightTable& table_;
  const std::string prefix_;
  float* const layer_;
};

}  // namespace

StepWeights take_step_weights(const Config& config, std::int64_t n_tokens, const std::string& root,
                              tensor::WeightTable& table, tensor::Context& context) {
  const std::int64_t d = config.decoder_width, n = config.decoder_layers;
  const DecoderLayout at = decoder_layout(d);
  std::vector<float> layers(static_cast<std::size_t>(n * at.size));
  for (std::int64_t i = 0; i < n; ++i) {
    LayerWriter to(table, fmt::format("{}decoder.transformer_layers.{}.", root, i),
                   layers.data() + i * at.size);
    to.norm(at.self_norm, "layer_norm_1", d);
    to.maps(at.qkv, {"self_attn.linear_query", "self_attn.linear_keys", "self_attn.linear_values"},
            d, d);
    to.maps(at.self_out, {"self_attn.final_linear"}, d, d);
    to.norm(at.cross_norm, "layer_norm_2", d);
    to.maps(at.q, {"context_attn.linear_query"}, d, d);
    to.maps(at.cross_out, {"context_attn.final_linear"}, d, d);
    to.norm(at.ffn_norm, "feed_forward.layer_norm", d);
    to.maps(at.up, {"feed_forward.w_1"}, 4 * d, d);
    to.maps(at.down, {"feed_forward.w_2"}, d, 4 * d);
  }
  const HostTensor head = table.take(root + "output_layer.weight", {n_tokens, d});
  const HostTensor bias = table.take(root + "output_layer.bias", {n_tokens});
  StepWeights weights;
  weights.layers = context.upload(tensor::Tensor(layers.data(), tensor::DType::f32, {n, at.size}),
                                  tensor::DType::f32);
  weights.head = context.upload(head.view, tensor::DType::f32);
  weights.head_bias = context.upload(bias.view, tensor::DType::f32);
  return weights;
}

}  // namespace biogpu::models::molscribe
