#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/c_api/block.h"
#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

// Blocks in double precision by plain loops, which share nothing with the library, and random
// weights under the names of checkpoints.
namespace biogpu::test {

using Numbers = std::vector<float>;
using Doubles = std::vector<double>;

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(2 * seed + 1) {}
  Numbers take(std::int64_t n, double size) {
    Numbers values(static_cast<std::size_t>(n));
    for (float& value : values) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<float>(size * (static_cast<double>(state_ >> 33) * 0x1p-30 - 1));
    }
    return values;
  }

 private:
  std::uint64_t state_;
};

inline biogpu_block_tensor array_of(const void* data, const std::vector<std::int64_t>& shape,
                                    int type = BIOGPU_BLOCK_F32) {
  biogpu_block_tensor array{};
  array.data = const_cast<void*>(data);
  array.type = type;
  array.n_axes = static_cast<std::int32_t>(shape.size());
  std::size_t i = 0;
  for (const std::int64_t extent : shape) array.shape[i++] = extent;
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; step *= array.shape[axis])
    array.stride[axis] = step;
  return array;
}

// Axis i of the result is axis axes[i] of the array.
inline biogpu_block_tensor permuted_array(const biogpu_block_tensor& array,
                                          std::initializer_list<int> axes) {
  biogpu_block_tensor view = array;
  std::size_t to = 0;
  for (const int axis : axes) {
    view.shape[to] = array.shape[static_cast<std::size_t>(axis)];
    view.stride[to++] = array.stride[static_cast<std::size_t>(axis)];
  }
  return view;
}

// Weights by name, each of which matters.
struct BlockWeights {
  struct Weight {
    Numbers values;
    std::vector<std::int64_t> shape;
  };
  std::map<std::string, Weight> by_name;
  RandomNumbers random;
  std::function<float(float)> rounded = [](float x) { return x; };

  explicit BlockWeights(std::uint64_t seed) : random(seed) {}
  void add_norm(const std::string& name, std::int64_t d, bool has_bias = true) {
    Numbers weight = random.take(d, 0.4);
    for (float& value : weight) value += 1;
    by_name[name + ".weight"] = {std::move(weight), {d}};
    if (has_bias) by_name[name + ".bias"] = {random.take(d, 0.4), {d}};
  }
  void add_map(const std::string& name, std::int64_t n_out, std::int64_t n_in, bool has_bias,
               double gain = 1.7) {
    Numbers weight = random.take(n_out * n_in, gain / std::sqrt(static_cast<double>(n_in)));
    for (float& value : weight) value = rounded(value);
    by_name[name + ".weight"] = {std::move(weight), {n_out, n_in}};
    if (has_bias) by_name[name + ".bias"] = {random.take(n_out, 0.5), {n_out}};
  }
  std::vector<biogpu_block_weight> list() const {
    std::vector<biogpu_block_weight> weights;
    for (const auto& [name, weight] : by_name)
      weights.push_back(
          {name.c_str(), weight.shape.size() == 1
                             ? array_of(weight.values.data(), {weight.shape[0]})
                             : array_of(weight.values.data(), {weight.shape[0], weight.shape[1]})});
    for (biogpu_block_weight& weight : weights)  // which the library does not look at
      std::fill(std::begin(weight.tensor.stride), std::end(weight.tensor.stride), -7);
    return weights;
  }

  // With the weight and the bias that there are.
  Doubles norm(const Doubles& x, const std::string& name) const {
    const auto weight = by_name.find(name + ".weight"), bias = by_name.find(name + ".bias");
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    for (const double value : x)
      variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
    Doubles y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) *
                 (weight == by_name.end() ? 1 : weight->second.values[i]) +
             (bias == by_name.end() ? 0 : bias->second.values[i]);
    return y;
  }
  Doubles map(const Doubles& x, const std::string& name) const {
    const Weight& weight = by_name.at(name + ".weight");
    const auto bias = by_name.find(name + ".bias");
    Doubles y(static_cast<std::size_t>(weight.shape[0]));
    for (std::size_t o = 0; o < y.size(); ++o) {
      y[o] = bias == by_name.end() ? 0 : bias->second.values[o];
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += weight.values[o * x.size() + i] * x[i];
    }
    return y;
  }
  Doubles gated(Doubles x, const Doubles& gate) const {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] /= 1 + std::exp(-gate[i]);
    return x;
  }
};

inline BlockWeights product_weights(std::uint64_t seed, std::int64_t c, std::int64_t c_product,
                                    bool has_bias,
                                    const std::function<float(float)>& rounded = {}) {
  BlockWeights weights(seed);
  if (rounded) weights.rounded = rounded;
  weights.add_norm("layer_norm_in", c);
  for (const char* const name : {"linear_a_p", "linear_a_g", "linear_b_p", "linear_b_g"})
    weights.add_map(name, c_product, c, has_bias);
  weights.add_map("linear_g", c, c, has_bias);
  weights.add_norm("layer_norm_out", c_product);
  weights.add_map("linear_z", c, c_product, has_bias);
  return weights;
}

inline BlockWeights attention_weights(std::uint64_t seed, std::int64_t c, std::int64_t n_heads,
                                      std::int64_t d_head, bool has_bias,
                                      const std::function<float(float)>& rounded = {}) {
  BlockWeights weights(seed);
  if (rounded) weights.rounded = rounded;
  const std::int64_t width = n_heads * d_head;
  weights.add_norm("layer_norm", c);
  weights.add_map("linear", n_heads, c, false);
  weights.add_map("mha.linear_q", width, c, false, 3);
  weights.add_map("mha.linear_k", width, c, false, 3);
  weights.add_map("mha.linear_v", width, c, false);
  weights.add_map("mha.linear_g", width, c, has_bias);
  weights.add_map("mha.linear_o", c, width, has_bias);
  return weights;
}

// Of one batch [N, N, c]; mask [N, N], or empty.
inline Doubles expected_product(const BlockWeights& weights, const float* z, const float* mask,
                                std::int64_t n, std::int64_t c, bool outgoing) {
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const float* const x = z + (i * n + j) * c;
    return weights.norm(Doubles(x, x + c), "layer_norm_in");
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<Doubles, Doubles>> sides;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const Doubles x = at(i, j);
      auto& [a, b] = sides[{i, j}];
      a = weights.gated(weights.map(x, "linear_a_p"), weights.map(x, "linear_a_g"));
      b = weights.gated(weights.map(x, "linear_b_p"), weights.map(x, "linear_b_g"));
      const double seen = mask == nullptr ? 1 : mask[i * n + j];
      for (double& value : a) value *= seen;
      for (double& value : b) value *= seen;
    }
  Doubles out;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      Doubles sums(sides[{0, 0}].first.size());
      for (std::int64_t k = 0; k < n; ++k)
        for (std::size_t e = 0; e < sums.size(); ++e)
          sums[e] += outgoing ? sides[{i, k}].first[e] * sides[{j, k}].second[e]
                              : sides[{k, i}].first[e] * sides[{k, j}].second[e];
      const Doubles y = weights.gated(weights.map(weights.norm(sums, "layer_norm_out"), "linear_z"),
                                      weights.map(at(i, j), "linear_g"));
      out.insert(out.end(), y.begin(), y.end());
    }
  return out;
}

// Heads of one query over keys; bias and mask by key.
inline Doubles attended_row(const Doubles& q, const std::vector<Doubles>& k,
                            const std::vector<Doubles>& v,
                            const std::function<double(std::size_t head, std::size_t key)>& bias,
                            const std::function<bool(std::size_t key)>& is_seen,
                            std::size_t n_heads, double scale) {
  const std::size_t d = q.size() / n_heads;
  Doubles out(q.size());
  for (std::size_t h = 0; h < n_heads; ++h) {
    Doubles logits;
    double top = -INFINITY, sum = 0;
    for (std::size_t key = 0; key < k.size(); ++key) {
      double logit = -1e9;
      if (is_seen(key)) {
        logit = bias(h, key);
        for (std::size_t e = 0; e < d; ++e) logit += scale * q[h * d + e] * k[key][h * d + e];
      }
      logits.push_back(logit);
      top = std::max(top, logit);
    }
    for (double& logit : logits) sum += logit = std::exp(logit - top);
    for (std::size_t key = 0; key < k.size(); ++key)
      for (std::size_t e = 0; e < d; ++e) out[h * d + e] += logits[key] / sum * v[key][h * d + e];
  }
  return out;
}

inline Doubles expected_attention(const BlockWeights& weights, const float* z, const float* mask,
                                  std::int64_t n, std::int64_t c, std::size_t n_heads,
                                  bool ending) {
  const auto index = [&](std::int64_t i, std::int64_t j) { return ending ? j * n + i : i * n + j; };
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const float* const x = z + index(i, j) * c;
    return weights.norm(Doubles(x, x + c), "layer_norm");
  };
  std::vector<Doubles> bias(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k)
      bias[static_cast<std::size_t>(j * n + k)] = weights.map(at(j, k), "linear");
  Doubles out(static_cast<std::size_t>(n * n * c));
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<Doubles> k, v;
    for (std::int64_t j = 0; j < n; ++j) {
      k.push_back(weights.map(at(i, j), "mha.linear_k"));
      v.push_back(weights.map(at(i, j), "mha.linear_v"));
    }
    for (std::int64_t j = 0; j < n; ++j) {
      const Doubles x = at(i, j);
      const Doubles q = weights.map(x, "mha.linear_q");
      const Doubles o = attended_row(
          q, k, v,
          [&](std::size_t h, std::size_t key) {
            return bias[static_cast<std::size_t>(j * n) + key][h];
          },
          [&](std::size_t key) {
            return mask == nullptr || mask[index(i, static_cast<std::int64_t>(key))] != 0;
          },
          n_heads, 1 / std::sqrt(static_cast<double>(q.size() / n_heads)));
      const Doubles y =
          weights.map(weights.gated(o, weights.map(x, "mha.linear_g")), "mha.linear_o");
      std::copy(y.begin(), y.end(), out.begin() + index(i, j) * c);
    }
  }
  return out;
}

// Right-padded: n_seen tokens; one row without any pair besides.
inline Numbers padded_mask(std::int64_t n, std::int64_t n_seen) {
  Numbers mask(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n_seen; ++i)
    for (std::int64_t j = 0; j < n_seen; ++j)
      mask[static_cast<std::size_t>(i * n + j)] = i == 1 ? 0.0f : 1.0f;
  return mask;
}

struct FreeBlock {
  void operator()(biogpu_block* block) const { biogpu_block_free(block); }
  void operator()(biogpu_block_context* context) const { biogpu_block_close(context); }
};
using BlockPointer = std::unique_ptr<biogpu_block, FreeBlock>;
using ContextPointer = std::unique_ptr<biogpu_block_context, FreeBlock>;

inline ContextPointer open_blocks(const char* device, const char* precision) {
  biogpu_block_context* context = nullptr;
  const int code = biogpu_block_open(device, precision, 2, &context);
  INFO(biogpu_block_error());
  REQUIRE(code == 0);
  return ContextPointer(context);
}

inline BlockPointer make_block(const ContextPointer& context, const char* kind,
                               const BlockWeights& weights) {
  const std::vector<biogpu_block_weight> list = weights.list();
  biogpu_block* block = nullptr;
  const int code =
      biogpu_block_make(context.get(), kind, list.data(), static_cast<int>(list.size()), 0, &block);
  INFO(biogpu_block_error());
  REQUIRE(code == 0);
  return BlockPointer(block);
}

// Whether the last message has this text.
inline bool says(const char* text) { return std::strstr(biogpu_block_error(), text) != nullptr; }

// A call whose inputs are set by name.
class BlockCall : public biogpu_block_call {
 public:
  BlockCall() : biogpu_block_call{} {}
  biogpu_block_tensor& input(const char* name) {
    for (biogpu_block_input& input : list_)
      if (std::string(input.name) == name) return input.tensor;
    list_.push_back({name, {}});
    return list_.back().tensor;
  }
  int run(const BlockPointer& block) { return biogpu_block_run(block.get(), &with_inputs()); }
  int measure(const BlockPointer& block, std::size_t& bytes) {
    return biogpu_block_workspace(block.get(), &with_inputs(), &bytes);
  }

 private:
  const biogpu_block_call& with_inputs() {
    inputs = list_.data();
    n_inputs = static_cast<std::int32_t>(list_.size());
    return *this;
  }
  std::vector<biogpu_block_input> list_;
};

// The largest difference in units of the root mean square of what is right, and 1 - cosine.
inline std::pair<double, double> differences(const Numbers& got, const Doubles& right) {
  REQUIRE(got.size() == right.size());
  double largest = 0, own = 0, squares = 0, both = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = worse_of(largest, std::fabs(got[i] - right[i]));
    own += static_cast<double>(got[i]) * got[i];
    squares += right[i] * right[i];
    both += got[i] * right[i];
  }
  return {largest / std::sqrt(squares / static_cast<double>(right.size())),
          1 - both / std::sqrt(own * squares)};
}

}  // namespace biogpu::test
