#pragma once

#include <string>

#include "lib/lab/double_rows.hpp"
#include "lib/lab/random_weights.hpp"

namespace biogpu::lab {

// Width of what tokens are conditioned on.
inline constexpr std::int64_t kConditionWidth = 64;

inline void add_adaptive_norm(RandomWeights& weights, const std::string& name, std::int64_t c) {
  weights.add_norm(name + "layernorm_s", kConditionWidth, false);
  weights.add_linear(name + "linear_s", c, kConditionWidth, 1, true);
  weights.add_linear(name + "linear_nobias_s", c, kConditionWidth);
}

// The adaptive norm of one row in double precision.
inline Row adaptive_norm_of(const RandomWeights& weights, const std::string& name, const Row& a,
                            const Row& s) {
  const Row n = norm_of(s, weights.at(name + "layernorm_s"));
  return sum_of(gated(norm_of(a, {}), linear_of(n, weights.at(name + "linear_s"))),
                linear_of(n, weights.at(name + "linear_nobias_s")));
}

}  // namespace biogpu::lab
