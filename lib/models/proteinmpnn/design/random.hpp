#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "lib/core/philox.hpp"

namespace biogpu::models::proteinmpnn {

// What a number is drawn for; part of its counter.
enum class Draw : std::uint32_t { order = 0, letter = 1, noise = 2 };

// What a random number depends on: the seed, its purpose, and the numbers of sample and residue.
class Random {
 public:
  explicit Random(std::uint64_t seed)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

  // In [0, 1).
  double uniform(Draw draw, std::uint32_t sample, std::uint32_t index) const {
    return philox_unit(bits(draw, sample, index), 0);
  }
  // Of mean 0 and variance 1. (Box and Muller 1958)
  float normal(Draw draw, std::uint32_t sample, std::uint32_t index) const {
    const auto random = bits(draw, sample, index);
    const double radius = std::sqrt(-2.0 * std::log1p(-philox_unit(random, 0)));
    return static_cast<float>(radius * std::cos(6.283185307179586 * philox_unit(random, 2)));
  }

 private:
  std::array<std::uint32_t, 4> bits(Draw draw, std::uint32_t sample, std::uint32_t index) const {
    return philox({index, sample, static_cast<std::uint32_t>(draw), 0}, key_);
  }

  std::array<std::uint32_t, 2> key_;
};

}  // namespace biogpu::models::proteinmpnn
