#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// gpu/ops/reduction/sample.hip makes the first two a device's.
#ifndef BIOGPU_PHILOX_FUNCTION
#define BIOGPU_PHILOX_FUNCTION inline
#endif

namespace biogpu {

// Philox4x32-10 (Salmon et al. 2011, doi 10.1145/2063384.2063405): four numbers from a counter
// under a key, so that a draw depends on what it is for and on nothing that was drawn before. The
// numbers replace the counter.
BIOGPU_PHILOX_FUNCTION void philox(std::uint32_t (&counter)[4], std::uint32_t key_0,
                                   std::uint32_t key_1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter[0] = static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key_0;
    counter[1] = static_cast<std::uint32_t>(b);
    counter[2] = static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key_1;
    counter[3] = static_cast<std::uint32_t>(a);
    key_0 += 0x9E3779B9;
    key_1 += 0xBB67AE85;
  }
}

// Two numbers as one in [0, 1).
BIOGPU_PHILOX_FUNCTION double philox_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits53 = (std::uint64_t{high} << 32 | low) >> 11;
  return static_cast<double>(bits53) * 0x1p-53;
}

inline std::array<std::uint32_t, 4> philox(const std::array<std::uint32_t, 4>& counter,
                                           const std::array<std::uint32_t, 2>& key) {
  std::uint32_t numbers[4] = {counter[0], counter[1], counter[2], counter[3]};
  philox(numbers, key[0], key[1]);
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

// The numbers i and i + 1 of a draw as one in [0, 1).
inline double philox_unit(const std::array<std::uint32_t, 4>& random, std::size_t i) {
  return philox_unit(random[i], random[i + 1]);
}

}  // namespace biogpu
