#include "lib/lab/random_weights.hpp"

#include <cmath>
#include <utility>

#include "lib/tensor/float16.hpp"

namespace biogpu::lab {
namespace {

using tensor::DType;

constexpr float kUniformDeviation = 1.7320508f;  // of what a uniform number's range is a multiple

tensor::StoredTensor stored(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  tensor::StoredTensor tensor;
  tensor.type = "F32";
  tensor.shape = std::move(shape);
  tensor.data = reinterpret_cast<const std::uint8_t*>(values.data());
  tensor.bytes = values.size() * sizeof(float);
  return tensor;
}

}  // namespace

float rounded(float value, DType as) {
  if (as == DType::f16) return tensor::from_f16(tensor::to_f16(value));
  if (as == DType::bf16) return tensor::from_bf16(tensor::to_bf16(value));
  return value;
}

std::vector<float> Random::numbers(std::int64_t n, float deviation) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = next(deviation * kUniformDeviation);
  return values;
}

void RandomWeights::add_linear(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                               float gain, bool has_bias) {
  Layer& layer = layers_[name];
  layer.n_out = n_out;
  layer.n_in = n_in;
  layer.weight = random_.numbers(n_out * n_in, gain / std::sqrt(static_cast<float>(n_in)));
  for (float& value : layer.weight) value = rounded(value, operand_);
  if (has_bias) layer.bias = random_.numbers(n_out, 0.5f);
}

void RandomWeights::add_norm(const std::string& name, std::int64_t d, bool has_bias) {
  Layer& layer = layers_[name];
  layer.n_out = d;
  layer.weight = random_.numbers(d, 0.2f);
  for (float& value : layer.weight) value += 1;
  if (has_bias) layer.bias = random_.numbers(d, 0.2f);
  is_norm_[name] = true;
}

void RandomWeights::add_numbers(const std::string& name, std::vector<float> numbers) {
  Layer& layer = layers_[name];
  layer.n_out = static_cast<std::int64_t>(numbers.size());
  layer.weight = std::move(numbers);
  plain_.insert(name);
}

void RandomWeights::add_heads(const std::string& name, std::int64_t width, std::int64_t c,
                              bool query_bias) {
  add_linear(name + ".linear_q", width, c, 2, query_bias);
  add_linear(name + ".linear_k", width, c, 2);
  add_linear(name + ".linear_v", width, c);
  add_linear(name + ".linear_g", width, c);
  add_linear(name + ".linear_o", c, width, 2);
}

tensor::Checkpoint RandomWeights::checkpoint() const {
  std::map<std::string, tensor::StoredTensor> tensors;
  for (const auto& [name, layer] : layers_) {
    std::vector<std::int64_t> shape = {layer.n_out};
    if (plain_.count(name) > 0) {
      tensors.emplace("block." + name, stored(layer.weight, shape));
      continue;
    }
    if (is_norm_.count(name) == 0) shape.push_back(layer.n_in);
    tensors.emplace("block." + name + ".weight", stored(layer.weight, shape));
    if (!layer.bias.empty())
      tensors.emplace("block." + name + ".bias", stored(layer.bias, {layer.n_out}));
  }
  return tensor::Checkpoint::in_memory("random weights", std::move(tensors));
}

double RandomWeights::bytes() const {
  double n = 0;
  for (const auto& [name, layer] : layers_) n += static_cast<double>(layer.weight.size());
  return n * static_cast<double>(tensor::bytes_of(operand_));
}

}  // namespace biogpu::lab
