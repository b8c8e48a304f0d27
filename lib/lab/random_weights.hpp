#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::lab {

// Uniform numbers from a 64-bit counter.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  // In [-size, size).
  float next(float size) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return size * (static_cast<float>(state_ >> 40) * 0x1p-23f - 1.0f);
  }
  // Rows of numbers with a standard deviation of `deviation`.
  std::vector<float> numbers(std::int64_t n, float deviation);

 private:
  std::uint64_t state_;
};

// The number that a tensor of this type holds.
float rounded(float value, tensor::DType as);

// Parameters of a linear map [n_out, n_in], or of a norm [n_out]; the bias may be empty.
struct Layer {
  std::int64_t n_out = 0, n_in = 1;
  std::vector<float> weight, bias;
};

// Random parameters by the names of a checkpoint, as products read them: rounded to the operands'
// type. None is zero or one throughout, so that each of them matters.
class RandomWeights {
 public:
  RandomWeights(std::uint64_t seed, tensor::DType operand) : random_(seed), operand_(operand) {}

  // Inputs of about 1 give outputs of about `gain`.
  void add_linear(const std::string& name, std::int64_t n_out, std::int64_t n_in, float gain = 1,
                  bool has_bias = false);
  void add_norm(const std::string& name, std::int64_t d, bool has_bias = true);
  // Queries, keys, values, gate and output of heads under the names of Protenix. Queries and keys
  // make a few keys weigh most.
  void add_heads(const std::string& name, std::int64_t width, std::int64_t c, bool query_bias);

  // Numbers of their own, stored under the name alone and known by it.
  void add_numbers(const std::string& name, std::vector<float> numbers);

  // Of a name that was added.
  const Layer& at(const std::string& name) const { return layers_.at(name); }
  // The parameters as a checkpoint that refers to them, each name behind "block.".
  tensor::Checkpoint checkpoint() const;
  // Bytes of all, as operands.
  double bytes() const;

 private:
  Random random_;
  const tensor::DType operand_;
  std::map<std::string, Layer> layers_;
  std::map<std::string, bool> is_norm_;
  std::set<std::string> plain_;  // names without .weight
};

}  // namespace biogpu::lab
