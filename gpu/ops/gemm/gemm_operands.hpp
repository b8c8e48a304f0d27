#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/ops/activation.hpp"

namespace biogpu::gpu::ops {

// fp32 numbers as sums of two 16-bit ones, laid out so that one product of length 3 d, of a row
// that is an operand a with a row that is an operand b, is high high + high low + low high.
enum class SplitSide { a, b };  // [high, low, high] and [high, high, low]
// The numbers are multiplied by the scale, a power of two, before they are split.
void launch_split_rows(std::uint16_t* to, const Rows& from, SplitSide side, float scale,
                       std::int64_t n_rows, int d, Stream& stream);

// The scale for numbers of at most that size: with it the low parts of all but the smallest keep
// their 11 bits. fp16 has them down to 2^-14 only, and the low part of 0.01 begins at 2^-18.
float split_scale(float largest);

// The same numbers as two matrices [n_rows, d]: their 16-bit roundings, and what those leave.
void launch_split_planes(std::uint16_t* high, std::uint16_t* low, const Rows& from,
                         std::int64_t n_rows, int d, Stream& stream);

// The activation of x + bias, in place; d a multiple of 8, rows at multiples of 8 numbers; bias:
// [d] or not given.
void launch_bias_activation(const Rows& x, const float* bias, biogpu::ops::Activation activation,
                            std::int64_t n_rows, int d, Stream& stream);

}  // namespace biogpu::gpu::ops
