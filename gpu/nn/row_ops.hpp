#pragma once

#include <cstdint>

#include "gpu/nn/elements.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/rt/stream.hpp"

// The small operations around matrix products: each reads its input once.
namespace biogpu::gpu::nn {

// to[r] = from[r] for d numbers, of any types. rows, where given: to[r] = from[rows[r]].
void launch_copy_rows(const Rows& to, const Rows& from, const std::int32_t* rows,
                      std::int64_t n_rows, int d, Stream& stream);

// fp32 numbers as sums of two 16-bit ones, laid out so that one product of length 3 d, of a row
// that is an operand a with a row that is an operand b, is high high + high low + low high.
enum class SplitSide { a, b };  // [high, low, high] and [high, high, low]
void launch_split_rows(std::uint16_t* to, const Rows& from, SplitSide side, std::int64_t n_rows,
                       int d, Stream& stream);

// Rotates columns [0, n_rotated), heads of `head` numbers, a multiple of 8, of each row in place:
// see GemmEpilogue.
void launch_rotary(const Rows& x, const float* cos_sin, const std::int32_t* positions, int head,
                   int n_rotated, std::int64_t n_rows, Stream& stream);

// x / 2 (1 + erf(x / sqrt 2)) of x + bias, in place; d a multiple of 8, rows at multiples of 8
// numbers; bias: [d] or not given.
void launch_bias_gelu(const Rows& x, const float* bias, std::int64_t n_rows, int d, Stream& stream);

// x - log sum exp x of each row of f32 numbers, in place.
void launch_log_softmax(const Rows& x, std::int64_t n_rows, int d, Stream& stream);

// tanh of f32 numbers, in place.
void launch_tanh(float* x, std::int64_t n, Stream& stream);

// out[s] = mean of the rows of x of sequence s without its first and last; 0 where none is left.
void launch_mean_pool(const Rows& out, const Rows& x, const std::int32_t* starts,
                      std::int64_t n_sequences, int d, Stream& stream);

}  // namespace biogpu::gpu::nn
