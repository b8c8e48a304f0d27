#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/convolution/conv_weights.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// The first convolution of a model that reads DNA: y[t] = bias + sum over taps j of
// table[j, letters[t + j - (taps - 1) / 2]], rows outside of the segment adding nothing. What
// ops::Conv1d gives of the letters as four numbers each, without a product.
struct Conv1dLetters {
  Tensor letters;  // u8 [T], codes below kLetterCodes; others in rows of no segment only
  Tensor table;    // f32 [taps, 6, C_out]: letter_table() of conv_weights.hpp; taps odd, on a
                   // GPU at most 31
  Tensor bias;     // f32 [C_out], or empty
  const Ragged* segments = nullptr;
  Tensor out;           // y, f32 [T, C_out], contiguous; empty: not wanted
  Activated activated;  // of y
};
BIOGPU_DECLARE_OP(conv1d_letters, Conv1dLetters);

}  // namespace biogpu::ops
