// What products need around them: fp32 operands as sums of 16-bit numbers, and an activation behind
// the vendor's library.
//
// Shapes   see gemm_operands.hpp; d numbers a row.
// Mapping  one thread per 4 or 8 numbers, in order of memory.
// Traffic  each array once; memory bound.
// Result   rounded once a number.
// Source   own.
// Oracle   gemm_ref, lib/ops/gemm/gemm_ref.cpp.
#include "gpu/ops/gemm/gemm_operands.hpp"

#include <algorithm>
#include <cmath>

#include "gpu/ops/activation.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

// 4 numbers as sums of two 16-bit ones.
struct SplitWords {
  Words2 high, low;
};
__device__ __forceinline__ SplitWords split_numbers(const Float4& x) {
  constexpr Number16 kType = Number16::fp16;
  SplitWords to;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    to.high.word[i] = number16_pair<kType>(x.value[2 * i], x.value[2 * i + 1]);
    to.low.word[i] =
        number16_pair<kType>(x.value[2 * i] - number16_of_pair<kType>(to.high.word[i], 0),
                             x.value[2 * i + 1] - number16_of_pair<kType>(to.high.word[i], 1));
  }
  return to;
}

template <SplitSide kSide>
__global__ __launch_bounds__(kRowBlock) void split_rows_kernel(std::uint16_t* to, Rows from,
                                                               float scale, std::int64_t n_rows,
                                                               int d) {
  const RowGroup at = row_group(d / 4);
  if (at.row >= n_rows) return;
  const int column = at.group * 4;
  Float4 x = load_elements4(from, at.row, column);
#pragma unroll
  for (int i = 0; i < 4; ++i) x.value[i] *= scale;
  const auto [high, low] = split_numbers(x);
  std::uint16_t* const out = to + at.row * 3 * d + column;
  *reinterpret_cast<Words2*>(out) = high;
  *reinterpret_cast<Words2*>(out + d) = kSide == SplitSide::a ? low : high;
  *reinterpret_cast<Words2*>(out + 2 * d) = kSide == SplitSide::a ? high : low;
}

__global__ __launch_bounds__(kRowBlock) void split_planes_kernel(std::uint16_t* high,
                                                                 std::uint16_t* low, Rows from,
                                                                 std::int64_t n_rows, int d) {
  const RowGroup at = row_group(d / 4);
  if (at.row >= n_rows) return;
  const SplitWords split = split_numbers(load_elements4(from, at.row, at.group * 4));
  const std::int64_t to = at.row * d + at.group * 4;
  *reinterpret_cast<Words2*>(high + to) = split.high;
  *reinterpret_cast<Words2*>(low + to) = split.low;
}

__global__ __launch_bounds__(kRowBlock) void bias_activation_kernel(Rows x, const float* bias,
                                                                    Activation activation,
                                                                    std::int64_t n_rows, int d) {
  const RowGroup at = row_group(d / 8);
  const int column = at.group * 8;
  if (at.row >= n_rows) return;
  Float8 y = load_elements8(x, at.row, column);
  if (bias != nullptr) {
#pragma unroll
    for (int half = 0; half < 8; half += 4) {
      const Float4 added = *reinterpret_cast<const Float4*>(bias + column + half);
#pragma unroll
      for (int i = 0; i < 4; ++i) y.value[half + i] += added.value[i];
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) y.value[i] = activate(activation, y.value[i]);
  store_elements8(x, at.row, column, y);
}

}  // namespace

float split_scale(float largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0f, std::clamp(15 - exponent, -113, 100));
}

void launch_split_rows(std::uint16_t* to, const Rows& from, SplitSide side, float scale,
                       std::int64_t n_rows, int d, Stream& stream) {
  if (n_rows == 0) return;
  const auto kernel =
      side == SplitSide::a ? split_rows_kernel<SplitSide::a> : split_rows_kernel<SplitSide::b>;
  stream.launch(kernel, row_blocks(n_rows * (d / 4)), kRowBlock, to, from, scale, n_rows, d);
}

void launch_split_planes(std::uint16_t* high, std::uint16_t* low, const Rows& from,
                         std::int64_t n_rows, int d, Stream& stream) {
  if (n_rows == 0) return;
  stream.launch(split_planes_kernel, row_blocks(n_rows * (d / 4)), kRowBlock, high, low, from,
                n_rows, d);
}

void launch_bias_activation(const Rows& x, const float* bias, Activation activation,
                            std::int64_t n_rows, int d, Stream& stream) {
  if (n_rows == 0) return;
  stream.launch(bias_activation_kernel, row_blocks(n_rows * (d / 8)), kRowBlock, x, bias,
                activation, n_rows, d);
}

}  // namespace biogpu::gpu::ops
