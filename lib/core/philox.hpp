#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace biogpu {

// Philox4x32-10 (Salmon et al. 2011, doi 10.1145/2063384.2063405): four numbers from a counter
// under a key, so that a draw depends on what it is for and on nothing that was drawn before.
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

// The numbers i and i + 1 of a draw as one in [0, 1).
inline double philox_unit(const std::array<std::uint32_t, 4>& random, std::size_t i) {
  const std::uint64_t bits53 = (std::uint64_t{random[i]} << 32 | random[i + 1]) >> 11;
  return static_cast<double>(bits53) * 0x1p-53;
}

}  // namespace biogpu
