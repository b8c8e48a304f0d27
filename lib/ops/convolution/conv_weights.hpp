#pragma once

// Weights of convolutions in the layouts that operations read, made once at load.

#include <vector>

#include "lib/tensor/tensor.hpp"

namespace biogpu::ops {

// A weight [C_out, C_in, k], as PyTorch's Conv1d has it, as ops::Conv1d reads it:
// [C_out, k, C_in], the channels of a tap next to each other. weight: f32, contiguous.
inline std::vector<float> conv1d_weight(const tensor::Tensor& weight) {
  const std::int64_t n_out = weight.shape[0], n_in = weight.shape[1], taps = weight.shape[2];
  std::vector<float> packed(static_cast<std::size_t>(n_out * n_in * taps));
  float* to = packed.data();
  for (std::int64_t o = 0; o < n_out; ++o)
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t c = 0; c < n_in; ++c) *to++ = weight.row<float>(o)[c * taps + tap];
  return packed;
}

// Codes of letters: 0..3 are A, C, G, T; 4 is zero in all four, 5 a quarter in all four.
inline constexpr std::int64_t kLetterCodes = 6;
inline constexpr std::uint8_t kLetterZero = 4;
inline constexpr std::uint8_t kLetterQuarters = 5;

// A weight [C_out, 4, k] as ops::Conv1dLetters reads it: [k, 6, C_out], what each code adds at each
// tap. weight: f32, contiguous.
inline std::vector<float> letter_table(const tensor::Tensor& weight) {
  const std::int64_t n_out = weight.shape[0], taps = weight.shape[2];
  std::vector<float> table(static_cast<std::size_t>(taps * kLetterCodes * n_out));
  for (std::int64_t tap = 0; tap < taps; ++tap)
    for (std::int64_t o = 0; o < n_out; ++o) {
      float* const to = table.data() + tap * kLetterCodes * n_out + o;
      double sum = 0;
      for (std::int64_t letter = 0; letter < 4; ++letter) {
        const float value = weight.row<float>(o)[letter * taps + tap];
        to[letter * n_out] = value;
        sum += static_cast<double>(value);
      }
      to[4 * n_out] = 0;
      to[5 * n_out] = static_cast<float>(sum / 4);
    }
  return table;
}

}  // namespace biogpu::ops
