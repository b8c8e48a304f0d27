#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/lab/double_rows.hpp"
#include "lib/lab/random_weights.hpp"

namespace biogpu::lab {

// Heads of tokens with a bias of pairs under the names of Protenix, and what they give for one
// query in double precision: add_key() for each key, then output().
class PairBiasHeads {
 public:
  static void add_weights(RandomWeights& weights, std::int64_t c, std::int64_t c_pair,
                          std::int64_t n_heads, bool pair_norm_has_bias = true) {
    weights.add_norm("layernorm_z", c_pair, pair_norm_has_bias);
    weights.add_linear("linear_nobias_z", n_heads, c_pair);
    weights.add_heads("attention", c, c, true);
  }

  explicit PairBiasHeads(const RandomWeights& weights) : weights_(weights) {}

  // x: the key's norm; pair: that of the query and the key.
  void add_key(const Row& x, const Row& pair, bool is_seen = true) {
    k_.push_back(linear_of(x, weights_.at("attention.linear_k")));
    v_.push_back(linear_of(x, weights_.at("attention.linear_v")));
    const Layer& map = weights_.at("linear_nobias_z");
    bias_.push_back(is_seen ? linear_of(norm_of(pair, weights_.at("layernorm_z")), map)
                            : Row(static_cast<std::size_t>(map.n_out), -1e9));
  }

  // x: the query's norm.
  Row output(const Row& x) const {
    const Row o = attended(linear_of(x, weights_.at("attention.linear_q")), k_, v_, bias_,
                           static_cast<std::size_t>(weights_.at("linear_nobias_z").n_out));
    return linear_of(gated(o, linear_of(x, weights_.at("attention.linear_g"))),
                     weights_.at("attention.linear_o"));
  }

 private:
  const RandomWeights& weights_;
  std::vector<Row> k_, v_, bias_;
};

}  // namespace biogpu::lab
