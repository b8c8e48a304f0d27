// Copies, casts, rotary embedding, activation, softmax and means of rows.
//
// Shapes   see row_ops.hpp; d numbers a row.
// Mapping  copies, rotary and activation: one thread per 4 or 8 numbers, in order of memory;
// softmax: one wave per row; means: one thread per column of a sequence. Traffic  each array once;
// memory bound. Result   sums in an order that depends on the row or sequence alone. Source rotary:
// Su et al. 2021, arXiv 2104.09864. Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/row_ops.hpp"

#include <type_traits>

#include "gpu/nn/element_access.hpp"
#include "gpu/nn/gelu.hpp"
#include "gpu/nn/layer_norm_row.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::nn {
namespace {

constexpr unsigned kBlock = 256;

__device__ __forceinline__ std::int64_t thread_number() {
  return blockIdx.x * std::int64_t{kBlock} + threadIdx.x;
}

__global__ __launch_bounds__(kBlock) void copy_rows_kernel(Rows to, Rows from,
                                                           const std::int32_t* rows,
                                                           std::int64_t n_rows, int d) {
  const int groups = (d + 3) / 4;
  const std::int64_t row = thread_number() / groups;
  const int column = static_cast<int>(thread_number() % groups) * 4;
  if (row >= n_rows) return;
  const std::int64_t source = rows != nullptr ? rows[row] : row;
  const bool aligned = column + 4 <= d && to.stride % 4 == 0 && from.stride % 4 == 0;
  if (aligned) return store_elements4(to, row, column, load_elements4(from, source, column));
  for (int c = column; c < d && c < column + 4; ++c) {
    store_element(to, row, c, load_element(from, source, c));
  }
}

template <SplitSide kSide>
__global__ __launch_bounds__(kBlock) void split_rows_kernel(std::uint16_t* to, Rows from,
                                                            std::int64_t n_rows, int d) {
  constexpr Number16 kType = Number16::fp16;
  const int groups = d / 4;
  const std::int64_t row = thread_number() / groups;
  const int column = static_cast<int>(thread_number() % groups) * 4;
  if (row >= n_rows) return;
  const Float4 x = load_elements4(from, row, column);
  Words2 high, low;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    high.word[i] = number16_pair<kType>(x.value[2 * i], x.value[2 * i + 1]);
    low.word[i] =
        number16_pair<kType>(x.value[2 * i] - number16_of_pair<kType>(high.word[i], 0),
                             x.value[2 * i + 1] - number16_of_pair<kType>(high.word[i], 1));
  }
  std::uint16_t* const out = to + row * 3 * d + column;
  *reinterpret_cast<Words2*>(out) = high;
  *reinterpret_cast<Words2*>(out + d) = kSide == SplitSide::a ? low : high;
  *reinterpret_cast<Words2*>(out + 2 * d) = kSide == SplitSide::a ? high : low;
}

// Row and group of this thread where a row has `groups`; 32 bits where they do: a division of 64
// takes longer than what is done with its result.
struct RowGroup {
  std::int64_t row;
  int group;
};
__device__ __forceinline__ RowGroup row_group(int groups) {
  const std::int64_t number = thread_number();
  if (number >> 32 == 0) {
    const auto low = static_cast<std::uint32_t>(number), by = static_cast<std::uint32_t>(groups);
    return {low / by, static_cast<int>(low % by)};
  }
  return {number / groups, static_cast<int>(number % groups)};
}

// kWidth pairs a thread, all in one head.
template <int kWidth>
__global__ __launch_bounds__(kBlock) void rotary_kernel(Rows x, const float* cos_sin,
                                                        const std::int32_t* positions, int head,
                                                        int n_rotated, std::int64_t n_rows) {
  const int half = head / 2;
  const RowGroup at = row_group(n_rotated / 2 / kWidth);
  if (at.row >= n_rows) return;
  const int pair = at.group * kWidth;
  const int column = pair / half * head + pair % half;
  const float* const angles = cos_sin + std::int64_t{positions[at.row]} * head + pair % half;
  std::conditional_t<kWidth == 8, Float8, Float4> a, b;
  if constexpr (kWidth == 8) {
    a = load_elements8(x, at.row, column);
    b = load_elements8(x, at.row, column + half);
  } else {
    a = load_elements4(x, at.row, column);
    b = load_elements4(x, at.row, column + half);
  }
#pragma unroll
  for (int i = 0; i < kWidth; i += 4) {
    const Float4 cosine = *reinterpret_cast<const Float4*>(angles + i);
    const Float4 sine = *reinterpret_cast<const Float4*>(angles + half + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float& first = a.value[i + j];
      float& second = b.value[i + j];
      const float turned = first * cosine.value[j] - second * sine.value[j];
      second = second * cosine.value[j] + first * sine.value[j];
      first = turned;
    }
  }
  if constexpr (kWidth == 8) {
    store_elements8(x, at.row, column, a);
    store_elements8(x, at.row, column + half, b);
  } else {
    store_elements4(x, at.row, column, a);
    store_elements4(x, at.row, column + half, b);
  }
}

__global__ __launch_bounds__(kBlock) void bias_gelu_kernel(Rows x, const float* bias,
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
  for (int i = 0; i < 8; ++i) y.value[i] = gelu(y.value[i]);
  store_elements8(x, at.row, column, y);
}

template <int kWave>
__global__ __launch_bounds__(kBlock) void log_softmax_kernel(Rows x, std::int64_t n_rows, int d) {
  const std::int64_t row = thread_number() / kWave;
  if (row >= n_rows) return;
  const int lane = wave_lane<kWave>();
  float top = -3.0e38f;
  for (int c = lane; c < d; c += kWave) {
    const float value = load_element(x, row, c);
    top = value > top ? value : top;
  }
  top = wave_max<kWave>(top);
  float sum = 0;
  for (int c = lane; c < d; c += kWave) sum += expf(load_element(x, row, c) - top);
  const float log_sum = top + logf(wave_sum<kWave>(sum));
  for (int c = lane; c < d; c += kWave) store_element(x, row, c, load_element(x, row, c) - log_sum);
}

__global__ __launch_bounds__(kBlock) void tanh_kernel(float* x, std::int64_t n) {
  if (thread_number() < n) x[thread_number()] = tanhf(x[thread_number()]);
}

__global__ __launch_bounds__(kBlock) void mean_pool_kernel(Rows out, Rows x,
                                                           const std::int32_t* starts,
                                                           std::int64_t n_sequences, int d) {
  const std::int64_t sequence = thread_number() / d;
  const int column = static_cast<int>(thread_number() % d);
  if (sequence >= n_sequences) return;
  const int first = starts[sequence] + 1, last = starts[sequence + 1] - 1;
  float sum[4] = {};
  for (int t = first; t < last; ++t) sum[(t - first) % 4] += load_element(x, t, column);
  const float total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  const float mean = last > first ? total / static_cast<float>(last - first) : 0.0f;
  store_element(out, sequence, column, mean);
}

std::size_t blocks_for(std::int64_t n_threads) {
  return static_cast<std::size_t>(ceil_div(n_threads, kBlock));
}

}  // namespace

void launch_copy_rows(const Rows& to, const Rows& from, const std::int32_t* rows,
                      std::int64_t n_rows, int d, Stream& stream) {
  if (n_rows == 0) return;
  stream.launch(copy_rows_kernel, blocks_for(n_rows * ((d + 3) / 4)), kBlock, to, from, rows,
                n_rows, d);
}

void launch_split_rows(std::uint16_t* to, const Rows& from, SplitSide side, std::int64_t n_rows,
                       int d, Stream& stream) {
  if (n_rows == 0) return;
  const auto kernel =
      side == SplitSide::a ? split_rows_kernel<SplitSide::a> : split_rows_kernel<SplitSide::b>;
  stream.launch(kernel, blocks_for(n_rows * (d / 4)), kBlock, to, from, n_rows, d);
}

void launch_rotary(const Rows& x, const float* cos_sin, const std::int32_t* positions, int head,
                   int n_rotated, std::int64_t n_rows, Stream& stream) {
  if (n_rows == 0) return;
  const bool wide = head % 16 == 0 && x.stride % 8 == 0;
  stream.launch(wide ? rotary_kernel<8> : rotary_kernel<4>,
                blocks_for(n_rows * (n_rotated / (wide ? 16 : 8))), kBlock, x, cos_sin, positions,
                head, n_rotated, n_rows);
}

void launch_bias_gelu(const Rows& x, const float* bias, std::int64_t n_rows, int d,
                      Stream& stream) {
  if (n_rows == 0) return;
  stream.launch(bias_gelu_kernel, blocks_for(n_rows * (d / 8)), kBlock, x, bias, n_rows, d);
}

void launch_log_softmax(const Rows& x, std::int64_t n_rows, int d, Stream& stream) {
  if (n_rows == 0) return;
  const auto kernel = stream.wave_width() == 64 ? log_softmax_kernel<64> : log_softmax_kernel<32>;
  stream.launch(kernel, blocks_for(n_rows * stream.wave_width()), kBlock, x, n_rows, d);
}

void launch_tanh(float* x, std::int64_t n, Stream& stream) {
  if (n == 0) return;
  stream.launch(tanh_kernel, blocks_for(n), kBlock, x, n);
}

void launch_mean_pool(const Rows& out, const Rows& x, const std::int32_t* starts,
                      std::int64_t n_sequences, int d, Stream& stream) {
  if (n_sequences == 0) return;
  stream.launch(mean_pool_kernel, blocks_for(n_sequences * d), kBlock, out, x, starts, n_sequences,
                d);
}

}  // namespace biogpu::gpu::nn
