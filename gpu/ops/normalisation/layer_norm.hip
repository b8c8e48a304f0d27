// Residual sum, layer normalisation and the copy that the next matrix product reads, in one pass;
// also the embedding, whose rows are normalised the same way.
//
// Shapes   see layer_norm.hpp.
// Mapping  one wave per row, 4 rows a block; lane l of a wave of W holds columns 4 l ... 4 l + 3 of
//          every group of 4 W, in registers from the load to the store. Long rows of fp32 are
//          normalised by blocks of a few waves, one row after the other: weights stay in
//          registers, and the next row's loads are under way. Kernels are compiled for the type of
//          16-bit arrays, and for rows of x alone. Rows that are no multiple of 4 long, that lie at
//          other places or are longer than 5,120, and groups: one wave each, a number at a time,
//          read three times.
// Traffic  bytes of each given array once; 8 d operations a row; memory bound.
// Result   mean, then variance of the differences, in fp32; sums in an order that depends on W and
//          d and the type of x only.
// Source   Ba, Kiros and Hinton 2016, arXiv 1607.06450; RMS norm: Zhang and Sennrich 2019, arXiv
//          1910.07467; group norm: Wu and He 2018, arXiv 1803.08494.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/normalisation/layer_norm.hpp"

#include <algorithm>
#include <type_traits>

#include "gpu/ops/normalisation/layer_norm_row.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr unsigned kRowsOfBlock = 4;
constexpr int kLongRow = 1024;  // columns above which a row of fp32 is long
constexpr int kLongBlocks = 8;  // of a multiprocessor

template <int kWave, int kGroups, Number16 kType, bool kPlain>
__global__ __launch_bounds__(kRowsOfBlock* kWave) void layer_norm_kernel(LayerNormArgs a) {
  const std::int64_t row =
      blockIdx.x * static_cast<std::int64_t>(kRowsOfBlock) + threadIdx.x / kWave;
  if (row < a.n_rows) layer_norm_row<kWave, kGroups, kType, kPlain>(a, row);
}

// Rows of fp32 by kWaves waves.
template <int kWave, int kWaves, int kGroups, Number16 kType>
__global__ __launch_bounds__(kWaves* kWave) void long_layer_norm_kernel(LayerNormArgs a) {
  constexpr int kLanes = kWaves * kWave;
  __shared__ float parts[2][kWaves];
  // The barrier of the other sum lies between a part and the next one in its place.
  const auto sum_row = [](float value, int n) {
    const float part = wave_sum<kWave>(value);
    if (wave_lane<kWave>() == 0) parts[n][threadIdx.x / kWave] = part;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int wave = 0; wave < kWaves; ++wave) sum += parts[n][wave];
    return sum;
  };
  RowValues<kGroups> weight, bias, next;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    weight.group[g] = vector_group<kLanes, kGroups>(a.weight, a.d, g);
    bias.group[g] = vector_group<kLanes, kGroups>(a.bias, a.d, g);
  }
  std::int64_t row = blockIdx.x;
  load_groups_f32<kLanes>(a.x, row, a.d, next);
  for (; row < a.n_rows; row += gridDim.x) {
    RowValues<kGroups> x = next;
    if (row + gridDim.x < a.n_rows) load_groups_f32<kLanes>(a.x, row + gridDim.x, a.d, next);
    standardise_row<kLanes>(a.d, a.eps, a.centred, x, sum_row);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x.group[g].value[i] =
            x.group[g].value[i] * weight.group[g].value[i] + bias.group[g].value[i];
      }
    }
    store_row<kLanes, kGroups, kType>(a.out, a.d, row, x);
    store_row<kLanes, kGroups, kType>(a.out_operand, a.d, row, x);
  }
}

// Rows of any width at any place, and groups of rows. A lane reads and writes the same columns each
// time, so that a target may be the memory of what is read.
template <int kWave>
__global__ __launch_bounds__(kRowsOfBlock* kWave) void any_layer_norm_kernel(LayerNormArgs a) {
  const std::int64_t item =
      blockIdx.x * static_cast<std::int64_t>(kRowsOfBlock) + threadIdx.x / kWave;
  if (item >= a.n_rows * a.n_groups) return;
  const std::int64_t row = item / a.n_groups;
  const int d = a.d / a.n_groups, begin = static_cast<int>(item % a.n_groups) * d, end = begin + d;
  const int lane = begin + wave_lane<kWave>();
  const std::int64_t source = a.ids != nullptr ? a.ids[row] : row;
  const float factor = a.scale != nullptr ? a.scale[row] : 1.0f;
  const auto number = [&](int c) {
    float x = load_element(a.x, source, c) * factor;
    if (a.position_table.data != nullptr) x += load_element(a.position_table, a.positions[row], c);
    if (a.add.data != nullptr) x += load_element(a.add, row, c);
    return x;
  };
  float sum = 0, squares = 0;
  for (int c = lane; c < end; c += kWave) sum += number(c);
  const float total = wave_sum<kWave>(sum);
  const float mean = a.centred ? total / static_cast<float>(d) : 0.0f;
  for (int c = lane; c < end; c += kWave) {
    const float apart = number(c) - mean;
    squares += apart * apart;
  }
  const float variance = wave_sum<kWave>(squares) / static_cast<float>(d);
  const float scale = 1.0f / sqrtf(variance + a.eps);
  for (int c = lane; c < end; c += kWave) {
    const float x = number(c);
    if (a.sum.data != nullptr) store_element(a.sum, row, c, x);
    if (a.weight == nullptr) continue;
    const float y = (x - mean) * scale * a.weight[c] + a.bias[c];
    if (a.out.data != nullptr) store_element(a.out, row, c, y);
    if (a.out_operand.data != nullptr) store_element(a.out_operand, row, c, y);
  }
}

// Whether groups of 4 columns of all arrays can be read and written at once, and fit in registers.
bool suits_groups(const LayerNormArgs& a) {
  constexpr int kMaxWidth = 5120;
  if (a.n_groups != 1 || a.d % 4 != 0 || a.d > kMaxWidth) return false;
  const auto aligned = [](const void* data, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % (4 * bytes) == 0;
  };
  for (const Rows* const rows : {&a.x, &a.add, &a.position_table, &a.sum, &a.out, &a.out_operand})
    if (rows->stride % 4 != 0 || !aligned(rows->data, bytes_of(rows->type))) return false;
  return aligned(a.weight, sizeof(float)) && aligned(a.bias, sizeof(float));
}

// Groups of 4 W columns: the fewer registers, the more rows are under way.
template <int kWave, Number16 kType, bool kPlain, class Run>
void with_groups(int d, Run&& run) {
  if constexpr (kWave == 64) {
    if (d <= 1280) return run(layer_norm_kernel<64, 5, kType, kPlain>);
    if (d <= 2560) return run(layer_norm_kernel<64, 10, kType, kPlain>);
    return run(layer_norm_kernel<64, 20, kType, kPlain>);
  } else {
    if (d <= 512) return run(layer_norm_kernel<32, 4, kType, kPlain>);
    if (d <= 1024) return run(layer_norm_kernel<32, 8, kType, kPlain>);
    if (d <= 1280) return run(layer_norm_kernel<32, 10, kType, kPlain>);
    if (d <= 2560) return run(layer_norm_kernel<32, 20, kType, kPlain>);
    return run(layer_norm_kernel<32, 40, kType, kPlain>);
  }
}

// Whether rows are long enough for more than one wave, and nothing but normalised.
bool is_long(const LayerNormArgs& a, bool plain) {
  return plain && a.x.type == Element::f32 && a.sum.data == nullptr && a.weight != nullptr &&
         a.d > kLongRow;
}

template <int kWave, Number16 kType>
void launch_long(const LayerNormArgs& a, Stream& stream) {
  const auto run = [&](auto kernel, unsigned n_waves) {
    const std::int64_t resident = std::int64_t{kLongBlocks} * stream.n_multiprocessors();
    stream.launch(kernel, static_cast<std::size_t>(std::min(a.n_rows, resident)), n_waves * kWave,
                  a);
  };
  constexpr int kGroups = 10 * 32 / kWave;  // of 1,280 columns a wave
  if (a.d <= 1280) return run(long_layer_norm_kernel<kWave, 2, (kGroups + 1) / 2, kType>, 2);
  if (a.d <= 2560) return run(long_layer_norm_kernel<kWave, 2, kGroups, kType>, 2);
  return run(long_layer_norm_kernel<kWave, 4, kGroups, kType>, 4);
}

}  // namespace

void launch_layer_norm(const LayerNormArgs& a, Stream& stream) {
  if (a.n_rows == 0) return;
  const auto run = [&](auto kernel) {
    stream.launch(kernel, static_cast<std::size_t>(ceil_div(a.n_rows * a.n_groups, kRowsOfBlock)),
                  kRowsOfBlock * static_cast<unsigned>(stream.wave_width()), a);
  };
  if (!suits_groups(a))
    return run(stream.wave_width() == 64 ? any_layer_norm_kernel<64> : any_layer_norm_kernel<32>);
  bool is_bf16 = false;
  for (const Rows* const rows : {&a.x, &a.add, &a.position_table, &a.sum, &a.out, &a.out_operand})
    is_bf16 |= rows->type == Element::bf16;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    const bool plain = a.ids == nullptr && a.scale == nullptr && a.add.data == nullptr &&
                       a.position_table.data == nullptr;
    const auto with_type = [&](auto bf16) {
      constexpr Number16 kType = bf16 ? Number16::bf16 : Number16::fp16;
      if (is_long(a, plain)) return launch_long<wave, kType>(a, stream);
      plain ? with_groups<wave, kType, true>(a.d, run) : with_groups<wave, kType, false>(a.d, run);
    };
    is_bf16 ? with_type(std::true_type()) : with_type(std::false_type());
  });
}

}  // namespace biogpu::gpu::ops
