#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace biogpu::models::proteinmpnn {

// What a number is drawn for; part of its counter.
enum class Draw : std::uint32_t { order = 0, letter = 1, noise = 2 };

// Philox4x32-10 (Salmon et al. 2011, doi 10.1145/2063384.2063405): four numbers from a counter
// under a key. A draw depends on the seed, on its purpose, and on the numbers of sample and
// residue, on nothing that was drawn before.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

class Random {
 public:
  explicit Random(std::uint64_t seed)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

  // In [0, 1).
  double uniform(Draw draw, std::uint32_t sample, std::uint32_t index) const {
    return unit(bits(draw, sample, index), 0);
  }
  // Of mean 0 and variance 1. (Box and Muller 1958)
  float normal(Draw draw, std::uint32_t sample, std::uint32_t index) const {
    const auto random = bits(draw, sample, index);
    const double radius = std::sqrt(-2.0 * std::log1p(-unit(random, 0)));
    return static_cast<float>(radius * std::cos(6.283185307179586 * unit(random, 2)));
  }

 private:
  std::array<std::uint32_t, 4> bits(Draw draw, std::uint32_t sample, std::uint32_t index) const {
    return philox({index, sample, static_cast<std::uint32_t>(draw), 0}, key_);
  }
  static double unit(const std::array<std::uint32_t, 4>& random, std::size_t i) {
    const std::uint64_t bits53 = (std::uint64_t{random[i]} << 32 | random[i + 1]) >> 11;
    return static_cast<double>(bits53) * 0x1p-53;
  }

  std::array<std::uint32_t, 2> key_;
};

}  // namespace biogpu::models::proteinmpnn
