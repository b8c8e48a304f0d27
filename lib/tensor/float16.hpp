#pragma once

#include <bit>
#include <cstdint>

namespace biogpu::tensor {

// 16-bit floating point numbers as bits. Rounding is to nearest, ties to even.

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t rest = bits & 0x7fffu;
  // Also right for subnormal numbers: the product renormalises them. Without a branch, so that
  // loops take several numbers at a time; all exponents of what is not finite are the same.
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f);
  const std::uint32_t exponent = rest >= 0x7c00u ? 0x7f800000u : 0;
  return std::bit_cast<float>(sign | scaled | exponent);
}

inline std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (rest < 0x38800000u) {
    // Subnormal: adding 0.5 leaves the rounded 10 bits at the low end of the sum's fraction.
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

}  // namespace biogpu::tensor
