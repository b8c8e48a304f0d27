#pragma once

#include <string>

#include "tests/c_api/block_support.hpp"

// The blocks of tokens, of an alignment and of the diffusion module in double precision by plain
// loops, with random weights and inputs.
namespace biogpu::test {

struct KindInput {
  std::string name;
  Numbers values;
  std::vector<std::int64_t> shape;  // of one item of a batch
};

// A block at one size. Widths are odd where the kind lets them be.
class KindCase {
 public:
  static constexpr std::int64_t kPair = 5, kHeads = 3, kToken = 12, kCondition = 7, kMsa = 6,
                                kOuter = 3, kRows = 4, kValue = 2;

  // is_variant: as AlphaFold 2 has it, with more biases and transitions without a gate; conditioned
  // blocks as Boltz-2 has them.
  KindCase(std::string name, std::int64_t n_tokens, const std::function<float(float)>& rounded = {},
           bool is_variant = false)
      : kind(std::move(name)),
        weights(21),
        n(n_tokens),
        random_(22),
        rounded_(rounded),
        is_variant_(is_variant) {
    if (rounded) weights.rounded = rounded;
    if (kind == "pair-transition") add_transition({"pairs", {}, {n, n, kToken}});
    if (kind == "token-transition") add_transition({"tokens", {}, {n, kToken}});
    if (kind == "pair-bias-attention") add_pair_bias_attention();
    if (kind == "outer-product-mean") add_outer_product_mean();
    if (kind == "pair-weighted-averaging") add_averaging();
    if (kind == "adaptive-norm") add_adaptive_norm();
    if (kind == "conditioned-attention") add_conditioned_attention();
    if (kind == "conditioned-transition") add_conditioned_transition();
    if (kind == "window-attention") add_window_attention();
  }

  // The update; with a mask if the inputs have one.
  Doubles update() const {
    Doubles all;
    const auto append = [&](const Doubles& row) { all.insert(all.end(), row.begin(), row.end()); };
    const KindInput& to = inputs[updated];
    const auto n_rows = static_cast<std::int64_t>(to.values.size()) / to.shape.back();
    for (std::int64_t row = 0; row < n_rows; ++row) {
      if (kind == "pair-transition" || kind == "token-transition") append(transition_row(row));
      if (kind == "pair-bias-attention" || kind == "window-attention")
        append(attention_row(row, normed_at(row)));
      if (kind == "outer-product-mean") append(outer_row(row / n, row % n));
      if (kind == "pair-weighted-averaging") append(averaged_row(row / n, row % n));
      if (kind == "adaptive-norm") append(adaptive_row(row, ""));
      if (kind == "conditioned-attention")
        append(weights.gated(attention_row(row, normed_at(row)),
                             weights.map(at("condition", row), "linear_a_last")));
      if (kind == "conditioned-transition") append(conditioned_row(row));
    }
    return all;
  }
  const KindInput* find(const std::string& name) const {
    for (const KindInput& input : inputs)
      if (input.name == name) return &input;
    return nullptr;
  }
  // Right-padded, the mask of a kind that has one; tokens behind it are no keys.
  void set_mask(std::int64_t n_seen) {
    if (kind.find("transition") != std::string::npos || kind == "adaptive-norm") return;
    const bool of_rows = kind == "outer-product-mean";
    KindInput mask{
        "mask", {}, of_rows ? std::vector<std::int64_t>{kRows, n} : std::vector<std::int64_t>{n}};
    for (std::int64_t row = 0; row < (of_rows ? kRows : 1); ++row)
      for (std::int64_t i = 0; i < n; ++i)
        mask.values.push_back(i < n_seen && (i + row) % 4 != 3 ? 1.0f : 0.0f);
    inputs.push_back(std::move(mask));
  }

  const std::string kind;
  BlockWeights weights;
  std::int64_t n;
  std::vector<KindInput> inputs;
  std::size_t updated = 0;

 private:
  void add_input(KindInput input) {
    std::int64_t size = 1;
    for (const std::int64_t extent : input.shape) size *= extent;
    input.values = random_.take(size, 2);
    for (float& value : input.values)
      if (rounded_) value = rounded_(value);
    inputs.push_back(std::move(input));
  }
  void add_transition(KindInput input) {
    add_input(std::move(input));
    if (is_variant_) {
      weights.add_norm("layer_norm", kToken);
      weights.add_map("linear_1", 2 * kToken, kToken, true);
      weights.add_map("linear_2", kToken, 2 * kToken, true);
      return;
    }
    weights.add_norm("layernorm1", kToken);
    weights.add_map("linear_no_bias_a", 2 * kToken, kToken, false);
    weights.add_map("linear_no_bias_b", 2 * kToken, kToken, false);
    weights.add_map("linear_no_bias", kToken, 2 * kToken, false);
  }
  void add_heads() {
    weights.add_map("linear_nobias_z", kHeads, kPair, false);
    weights.add_map("attention.linear_q", kToken, kToken, true, 3);
    weights.add_map("attention.linear_k", kToken, kToken, false, 3);
    weights.add_map("attention.linear_v", kToken, kToken, false);
    weights.add_map("attention.linear_g", kToken, kToken, is_variant_);
    weights.add_map("attention.linear_o", kToken, kToken, is_variant_);
  }
  void add_pair_bias_attention() {
    add_input({"tokens", {}, {n, kToken}});
    add_input({"pairs", {}, {n, n, kPair}});
    weights.add_norm("layernorm_a", kToken);
    weights.add_norm("layernorm_z", kPair);
    add_heads();
  }
  void add_window_attention() {
    add_input({"atoms", {}, {n, kToken}});
    add_input({"pairs", {}, {(n + 31) / 32, 32, 128, kPair}});
    weights.add_norm("layernorm_a", kToken);
    weights.add_norm("layernorm_z", kPair);
    add_heads();
    // What belongs to no atom is not read.
    Numbers& pairs = inputs.back().values;
    for (std::int64_t row = 0; row < (n + 31) / 32 * 32; ++row)
      for (std::int64_t j = 0; j < 128; ++j) {
        const std::int64_t atom = row / 32 * 32 - 48 + j;
        if (row < n && atom >= 0 && atom < n) continue;
        std::fill_n(pairs.begin() + (row * 128 + j) * kPair, kPair, NAN);
      }
  }
  void add_outer_product_mean() {
    add_input({"msa", {}, {kRows, n, kMsa}});
    add_input({"pairs", {}, {n, n, kPair}});
    updated = 1;
    weights.add_norm("layer_norm", kMsa);
    weights.add_map("linear_1", kOuter, kMsa, is_variant_);
    weights.add_map("linear_2", kOuter, kMsa, is_variant_);
    weights.add_map("linear_out", kPair, kOuter * kOuter, true);
  }
  void add_averaging() {
    add_input({"msa", {}, {kRows, n, kMsa}});
    add_input({"pairs", {}, {n, n, kPair}});
    weights.add_norm("layernorm_m", kMsa);
    weights.add_norm("layernorm_z", kPair);
    weights.add_map("linear_no_bias_mv", kHeads * kValue, kMsa, false);
    weights.add_map("linear_no_bias_mg", kHeads * kValue, kMsa, false);
    weights.add_map("linear_no_bias_z", kHeads, kPair, false);
    weights.add_map("linear_no_bias_out", kMsa, kHeads * kValue, false);
  }
  void add_adaptive_weights(const std::string& prefix) {
    weights.add_norm(prefix + "layernorm_s", kCondition, false);
    weights.add_map(prefix + "linear_s", kToken, kCondition, true);
    weights.add_map(prefix + "linear_nobias_s", kToken, kCondition, false);
  }
  void add_adaptive_norm() {
    add_input({"tokens", {}, {n, kToken}});
    add_input({"condition", {}, {n, kCondition}});
    add_adaptive_weights("");
  }
  void add_conditioned_attention() {
    add_input({"tokens", {}, {n, kToken}});
    add_input({"condition", {}, {n, kCondition}});
    add_input({"pairs", {}, {n, n, kPair}});
    add_adaptive_weights("layernorm_a.");
    weights.add_norm("layernorm_z", kPair, is_variant_);
    add_heads();
    weights.add_map("linear_a_last", kToken, kCondition, true);
  }
  void add_conditioned_transition() {
    add_input({"tokens", {}, {n, kToken}});
    add_input({"condition", {}, {n, kCondition}});
    add_adaptive_weights("adaln.");
    weights.add_map("linear_nobias_a1", 2 * kToken, kToken, false);
    weights.add_map("linear_nobias_a2", 2 * kToken, kToken, false);
    if (is_variant_) weights.add_map("linear_nobias_a3", 2 * kToken, kToken, false);
    weights.add_map("linear_nobias_b", kToken, 2 * kToken, false);
    weights.add_map("linear_s", kToken, kCondition, true);
  }

  Doubles at(const std::string& name, std::int64_t row) const {
    const KindInput& input = *find(name);
    const float* const begin = input.values.data() + row * input.shape.back();
    return {begin, begin + input.shape.back()};
  }
  bool is_seen(std::int64_t token) const {
    const KindInput* const mask = find("mask");
    return mask == nullptr || mask->values[static_cast<std::size_t>(token)] != 0;
  }
  static Doubles silu_product(Doubles a, const Doubles& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i] / (1 + std::exp(-a[i]));
    return a;
  }
  Doubles transition_row(std::int64_t row) const {
    if (is_variant_) {
      Doubles hidden = weights.map(weights.norm(at(inputs[0].name, row), "layer_norm"), "linear_1");
      for (double& value : hidden) value = std::max(value, 0.0);
      return weights.map(hidden, "linear_2");
    }
    const Doubles x = weights.norm(at(inputs[0].name, row), "layernorm1");
    return weights.map(
        silu_product(weights.map(x, "linear_no_bias_a"), weights.map(x, "linear_no_bias_b")),
        "linear_no_bias");
  }
  Doubles adaptive_row(std::int64_t row, const std::string& prefix) const {
    const Doubles s = weights.norm(at("condition", row), prefix + "layernorm_s");
    Doubles y =
        weights.gated(weights.norm(at("tokens", row), "none"), weights.map(s, prefix + "linear_s"));
    const Doubles shift = weights.map(s, prefix + "linear_nobias_s");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += shift[i];
    return y;
  }
  Doubles conditioned_row(std::int64_t row) const {
    const Doubles x = adaptive_row(row, "adaln.");
    Doubles hidden =
        silu_product(weights.map(x, "linear_nobias_a1"), weights.map(x, "linear_nobias_a2"));
    if (is_variant_) {
      const Doubles third = weights.map(x, "linear_nobias_a3");
      for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= third[i];
    }
    return weights.gated(weights.map(hidden, "linear_nobias_b"),
                         weights.map(at("condition", row), "linear_s"));
  }
  Doubles normed_at(std::int64_t row) const {
    return kind == "conditioned-attention" ? adaptive_row(row, "layernorm_a.")
                                           : weights.norm(at(inputs[0].name, row), "layernorm_a");
  }
  // The keys of a query, the rows of their pairs, and attention with its gate and output.
  Doubles attention_row(std::int64_t row, const Doubles& x) const {
    const bool in_windows = kind == "window-attention";
    const std::int64_t first = in_windows ? row / 32 * 32 - 48 : 0, n_keys = in_windows ? 128 : n;
    std::vector<Doubles> k, v, bias;
    std::vector<bool> seen;
    for (std::int64_t j = 0; j < n_keys; ++j) {
      const std::int64_t token = first + j;
      if (token < 0 || token >= n) continue;
      const Doubles key = normed_at(token);
      k.push_back(weights.map(key, "attention.linear_k"));
      v.push_back(weights.map(key, "attention.linear_v"));
      bias.push_back(weights.map(weights.norm(at("pairs", row * n_keys + j), "layernorm_z"),
                                 "linear_nobias_z"));
      seen.push_back(is_seen(token));
    }
    const Doubles o = attended_row(
        weights.map(x, "attention.linear_q"), k, v,
        [&](std::size_t h, std::size_t key) { return bias[key][h]; },
        [&](std::size_t key) { return seen[key]; }, kHeads,
        1 / std::sqrt(static_cast<double>(kToken / kHeads)));
    return weights.map(weights.gated(o, weights.map(x, "attention.linear_g")),
                       "attention.linear_o");
  }
  Doubles outer_row(std::int64_t i, std::int64_t j) const {
    Doubles outer(kOuter * kOuter);
    double n_both = 1e-3;
    for (std::int64_t s = 0; s < kRows; ++s) {
      if (!is_seen(s * n + i) || !is_seen(s * n + j)) continue;
      n_both += 1;
      const auto side = [&](std::int64_t token, const char* map) {
        return weights.map(weights.norm(at("msa", s * n + token), "layer_norm"), map);
      };
      const Doubles a = side(i, "linear_1"), b = side(j, "linear_2");
      for (std::size_t p = 0; p < a.size(); ++p)
        for (std::size_t q = 0; q < b.size(); ++q) outer[p * b.size() + q] += a[p] * b[q];
    }
    Doubles y = weights.map(outer, "linear_out");
    for (double& value : y) value /= n_both;
    return y;
  }
  Doubles averaged_row(std::int64_t s, std::int64_t i) const {
    Doubles means(kHeads * kValue);
    for (std::size_t h = 0; h < kHeads; ++h) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        if (!is_seen(j)) continue;
        const double weight = std::exp(weights.map(
            weights.norm(at("pairs", i * n + j), "layernorm_z"), "linear_no_bias_z")[h]);
        const Doubles v =
            weights.map(weights.norm(at("msa", s * n + j), "layernorm_m"), "linear_no_bias_mv");
        sum += weight;
        for (std::size_t e = 0; e < kValue; ++e)
          means[h * kValue + e] += weight * v[h * kValue + e];
      }
      for (std::size_t e = 0; e < kValue; ++e) means[h * kValue + e] /= sum;
    }
    const Doubles gate =
        weights.map(weights.norm(at("msa", s * n + i), "layernorm_m"), "linear_no_bias_mg");
    return weights.map(weights.gated(means, gate), "linear_no_bias_out");
  }

  RandomNumbers random_;
  std::function<float(float)> rounded_;
  bool is_variant_;
};

inline constexpr const char* kOtherKinds[] = {
    "pair-transition",       "token-transition",        "pair-bias-attention",
    "outer-product-mean",    "pair-weighted-averaging", "adaptive-norm",
    "conditioned-attention", "conditioned-transition",  "window-attention"};

inline BlockCall call_of(const KindCase& one, Numbers& out) {
  BlockCall call;
  for (const KindInput& input : one.inputs)
    call.input(input.name.c_str()) = array_of(input.values.data(), input.shape);
  out.resize(one.inputs[one.updated].values.size());
  call.out = array_of(out.data(), one.inputs[one.updated].shape);
  return call;
}

}  // namespace biogpu::test
