#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// fp32 numbers as sums of two 16-bit ones, laid out so that one product of length 3 d, of a row
// that is an operand a with a row that is an operand b, is high high + high low + low high.
enum class SplitSide { a, b };  // [high, low, high] and [high, high, low]
void launch_split_rows(std::uint16_t* to, const Rows& from, SplitSide side, std::int64_t n_rows,
                       int d, Stream& stream);

// x / 2 (1 + erf(x / sqrt 2)) of x + bias, in place; d a multiple of 8, rows at multiples of 8
// numbers; bias: [d] or not given.
void launch_bias_gelu(const Rows& x, const float* bias, std::int64_t n_rows, int d, Stream& stream);

}  // namespace biogpu::gpu::ops
