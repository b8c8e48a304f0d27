#pragma once

// One 16 x 16 x 16 product on the matrix cores: D[16, 16] += A[16, 16] * B[16, 16], fp16 or bf16
// operands, fp32 sums, shared out over the lanes of one wave as the hardware wants it: mma.sync
// m16n8k16 twice on NVIDIA (wave 32), v_mfma_f32_16x16x16 on AMD (wave 64). The emulated platform
// computes the same product out of what all lanes hold in the documented layouts, so that the
// layouts are tested too. All lanes of the wave take part in every function.
//
// Source  NVIDIA PTX ISA, "Matrix Fragments for mma.m16n8k16"; AMD Instinct MI200 ISA, 7.1
// "Matrix".

#include <cstdint>
#include <type_traits>

#include "gpu/prim/number16.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/hip.hpp"
#if defined(BIOGPU_GPU_EMULATED)
#include <hip/hip_matrix.h>

#include <cmath>
#include <cstring>
#endif

namespace biogpu::gpu {

// Calls function(std::integral_constant<int, W>) for the device's wave width W, so that kernels of
// matrix cores are compiled for the width that has them alone: 32 on NVIDIA, 64 on AMD.
template <class Function>
void with_matrix_wave([[maybe_unused]] int wave_width, Function&& function) {
#if defined(BIOGPU_GPU_CUDA)
  function(std::integral_constant<int, 32>());
#elif defined(BIOGPU_GPU_ROCM)
  function(std::integral_constant<int, 64>());
#else
  if (wave_width == 64) return function(std::integral_constant<int, 64>());
  function(std::integral_constant<int, 32>());
#endif
}

// 16-bit numbers as bits, two in a word, the lower column (A) or row (B) in the low half.
template <int kWave>
struct TileOperand {
  static constexpr int kWords = 128 / kWave;
  std::uint32_t word[kWords];
};

template <int kWave>
struct TileSum {
  static constexpr int kValues = 256 / kWave;
  float value[kValues];
};

// Row and column of value e of this lane.
template <int kWave>
__device__ __forceinline__ int tile_row(int e) {
  const int lane = wave_lane<kWave>();
  return kWave == 32 ? lane / 4 + ((e & 2) != 0 ? 8 : 0) : lane % 16;
}
template <int kWave>
__device__ __forceinline__ int tile_column(int e) {
  const int lane = wave_lane<kWave>();
  return kWave == 32 ? 2 * (lane % 4) + (e & 1) + ((e & 4) != 0 ? 8 : 0) : 4 * (lane / 16) + e;
}

// A is row-major, B column-major, so both are read in pairs along the summed index: p[i * stride +
// k] with i the row of A or the column of B. p and stride are even numbers of elements.
template <int kWave>
__device__ __forceinline__ std::uint32_t tile_pair(const std::uint16_t* p, int stride, int i,
                                                   int k) {
  return *reinterpret_cast<const std::uint32_t*>(p + i * stride + k);
}

template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_tile_a(const std::uint16_t* p, int stride) {
  const int lane = wave_lane<kWave>();
  TileOperand<kWave> a;
  if constexpr (kWave == 32) {
    const int row = lane / 4, k = 2 * (lane % 4);
    a.word[0] = tile_pair<kWave>(p, stride, row, k);
    a.word[1] = tile_pair<kWave>(p, stride, row + 8, k);
    a.word[2] = tile_pair<kWave>(p, stride, row, k + 8);
    a.word[3] = tile_pair<kWave>(p, stride, row + 8, k + 8);
  } else {
    const int row = lane % 16, k = 4 * (lane / 16);
    a.word[0] = tile_pair<kWave>(p, stride, row, k);
    a.word[1] = tile_pair<kWave>(p, stride, row, k + 2);
  }
  return a;
}

template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_tile_b(const std::uint16_t* p, int stride) {
  const int lane = wave_lane<kWave>();
  TileOperand<kWave> b;
  if constexpr (kWave == 32) {
    const int column = lane / 4, k = 2 * (lane % 4);
    b.word[0] = tile_pair<kWave>(p, stride, column, k);
    b.word[1] = tile_pair<kWave>(p, stride, column, k + 8);
    b.word[2] = tile_pair<kWave>(p, stride, column + 8, k);
    b.word[3] = tile_pair<kWave>(p, stride, column + 8, k + 8);
  } else {
    const int column = lane % 16, k = 4 * (lane / 16);
    b.word[0] = tile_pair<kWave>(p, stride, column, k);
    b.word[1] = tile_pair<kWave>(p, stride, column, k + 2);
  }
  return b;
}

// The same operands out of shared memory, whose addresses are multiples of 16 bytes and whose
// stride is a multiple of 8 elements: one instruction for a whole operand on NVIDIA. Rows that are
// 16 bytes longer than a multiple of 128 are read without conflicts.
#if defined(BIOGPU_GPU_CUDA)
namespace detail {
template <bool kTransposed>
__device__ __forceinline__ TileOperand<32> load_matrices(const std::uint16_t* row) {
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  TileOperand<32> x;
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]), "=r"(x.word[3])
                 : "r"(at)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]), "=r"(x.word[3])
                 : "r"(at)
                 : "memory");
  }
  return x;
}
}  // namespace detail
#endif

// A, row-major.
template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_shared_a(const std::uint16_t* p, int stride) {
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWave == 32) {
    const int lane = wave_lane<kWave>();
    return detail::load_matrices<false>(p + lane % 16 * stride + lane / 16 * 8);
  }
#endif
  return load_tile_a<kWave>(p, stride);
}

// A, column-major: p[k * stride + row].
template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_shared_a_columns(const std::uint16_t* p,
                                                                    int stride) {
  const int lane = wave_lane<kWave>();
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWave == 32) {
    return detail::load_matrices<true>(p + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8);
  }
#endif
  const auto pair = [&](int row, int k) {
    return p[k * stride + row] | static_cast<std::uint32_t>(p[(k + 1) * stride + row]) << 16;
  };
  TileOperand<kWave> a;
  if constexpr (kWave == 32) {
    const int row = lane / 4, k = 2 * (lane % 4);
    a.word[0] = pair(row, k);
    a.word[1] = pair(row + 8, k);
    a.word[2] = pair(row, k + 8);
    a.word[3] = pair(row + 8, k + 8);
  } else {
    const int row = lane % 16, k = 4 * (lane / 16);
    a.word[0] = pair(row, k);
    a.word[1] = pair(row, k + 2);
  }
  return a;
}

// B, column-major.
template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_shared_b(const std::uint16_t* p, int stride) {
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWave == 32) {
    const int lane = wave_lane<kWave>();
    return detail::load_matrices<false>(p + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8);
  }
#endif
  return load_tile_b<kWave>(p, stride);
}

// B, row-major: p[k * stride + column].
template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_shared_b_rows(const std::uint16_t* p,
                                                                 int stride) {
  const int lane = wave_lane<kWave>();
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWave == 32) {
    return detail::load_matrices<true>(p + lane % 16 * stride + lane / 16 * 8);
  }
#endif
  const auto pair = [&](int column, int k) {
    return p[k * stride + column] | static_cast<std::uint32_t>(p[(k + 1) * stride + column]) << 16;
  };
  TileOperand<kWave> b;
  if constexpr (kWave == 32) {
    const int column = lane / 4, k = 2 * (lane % 4);
    b.word[0] = pair(column, k);
    b.word[1] = pair(column, k + 8);
    b.word[2] = pair(column + 8, k);
    b.word[3] = pair(column + 8, k + 8);
  } else {
    const int column = lane % 16, k = 4 * (lane / 16);
    b.word[0] = pair(column, k);
    b.word[1] = pair(column, k + 2);
  }
  return b;
}

// A sum as the A operand of the next product: the two layouts agree, so nothing moves.
template <int kWave, Number16 kType, bool kClamps = true>
__device__ __forceinline__ TileOperand<kWave> operand_of_sum(const TileSum<kWave>& sum) {
  TileOperand<kWave> a;
#pragma unroll
  for (int w = 0; w < TileOperand<kWave>::kWords; ++w) {
    a.word[w] = number16_pair<kType, kClamps>(sum.value[2 * w], sum.value[2 * w + 1]);
  }
  return a;
}

// A lane's values lie in this many rows; value e in the row of slot tile_row_slot(e).
template <int kWave>
inline constexpr int kTileRowSlots = kWave == 32 ? 2 : 1;
template <int kWave>
__device__ __forceinline__ constexpr int tile_row_slot(int e) {
  return kWave == 32 ? e >> 1 & 1 : 0;
}

// Combines one value of each lane over the lanes that hold the same row; all of them get the
// result.
template <int kWave, class Combine>
__device__ __forceinline__ float reduce_tile_row(float value, Combine&& combine) {
  constexpr int kFirst = kWave == 32 ? 1 : 16;
  value = combine(value, wave_shuffle_xor<kWave>(value, kFirst));
  return combine(value, wave_shuffle_xor<kWave>(value, 2 * kFirst));
}

#if defined(BIOGPU_GPU_EMULATED)
namespace detail {
// Both operands of a lane.
template <int kWave>
struct LentTiles {
  TileOperand<kWave> a, b;
};

// Row i of A, or column i of B, as numbers, out of what all lanes hold: lanes (i % 8) * 4 ... + 3
// of a wave of 32 have it, or i, i + 16, ... of 64.
template <int kWave, Number16 kType>
void unpack_operand(const hip_on_host::Lent& lent, int i, bool is_b, float* values) {
  constexpr int kLenders = 4;
  for (int t = 0; t < kLenders; ++t) {
    const int lender = kWave == 32 ? i % 8 * 4 + t : t * 16 + i;
    LentTiles<kWave> tiles;
    std::memcpy(&tiles, lent.of_lane[lender], sizeof tiles);
    const TileOperand<kWave>& operand = is_b ? tiles.b : tiles.a;
    for (int half = 0; half < 2; ++half) {  // the lower and the upper pair of k that it holds
      const int high_rows = i >= 8 ? 1 : 0;
      const int word = kWave == 64 ? half : is_b ? 2 * high_rows + half : high_rows + 2 * half;
      const int k = kWave == 64 ? 4 * t + 2 * half : 2 * t + 8 * half;
      values[k] = number16_of_pair<kType>(operand.word[word], 0);
      values[k + 1] = number16_of_pair<kType>(operand.word[word], 1);
    }
  }
}

// A sum of products and what was summed before: rounded after each, or, as NVIDIA's instructions
// leave it, exact and then cut off towards zero.
inline float add_products(float sum, const float* left, const float* right, bool cuts) {
  if (!cuts) {
    for (int k = 0; k < 16; ++k) sum += left[k] * right[k];
    return sum;
  }
  double exact = static_cast<double>(sum);
  for (int k = 0; k < 16; ++k)
    exact += static_cast<double>(left[k]) * static_cast<double>(right[k]);
  const auto rounded = static_cast<float>(exact);
  const bool away = std::fabs(static_cast<double>(rounded)) > std::fabs(exact);
  return away ? std::nextafterf(rounded, 0.0f) : rounded;
}

template <int kWave, Number16 kType>
void multiply_emulated(TileSum<kWave>& sum, const TileOperand<kWave>& a,
                       const TileOperand<kWave>& b) {
  const LentTiles<kWave> tiles{a, b};
  static_assert(sizeof tiles <= hip_on_host::kLentBytes);
  const hip_on_host::Lent lent = hip_on_host::lend(&tiles, sizeof tiles);
  float* const rows = lent.room;
  float* const columns = lent.room + 256;
  for (int i = 0; lent.is_first && i < 16; ++i) {
    unpack_operand<kWave, kType>(lent, i, false, rows + 16 * i);
    unpack_operand<kWave, kType>(lent, i, true, columns + 16 * i);
  }
  const bool cuts = hip_on_host::cuts_sums();
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    const float* const left = rows + 16 * tile_row<kWave>(e);
    const float* const right = columns + 16 * tile_column<kWave>(e);
    sum.value[e] = add_products(sum.value[e], left, right, cuts);
  }
}
}  // namespace detail
#elif defined(BIOGPU_GPU_CUDA)
namespace detail {
template <Number16 kType>
__device__ __forceinline__ void multiply_half_tile(float* d, const TileOperand<32>& a,
                                                   std::uint32_t b0, std::uint32_t b1) {
  if constexpr (kType == Number16::fp16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b0), "r"(b1));
  }
}
}  // namespace detail
#endif

template <int kWave, Number16 kType = Number16::bf16>
__device__ __forceinline__ void multiply_tile(TileSum<kWave>& sum, const TileOperand<kWave>& a,
                                              const TileOperand<kWave>& b) {
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWave == 32) {
    detail::multiply_half_tile<kType>(sum.value, a, b.word[0], b.word[1]);
    detail::multiply_half_tile<kType>(sum.value + 4, a, b.word[2], b.word[3]);
  }
#elif defined(BIOGPU_GPU_ROCM)
  if constexpr (kWave == 64) {
    using Float4 = float __attribute__((ext_vector_type(4)));
    using Short4 = short __attribute__((ext_vector_type(4)));
    using Half4 = _Float16 __attribute__((ext_vector_type(4)));
    // The instruction gives each lane four rows of one column; with the operands exchanged it gives
    // four columns of one row, which is what tile_row and tile_column say.
    Float4 d;
    if constexpr (kType == Number16::fp16) {
      d = __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(Half4, b.word),
                                                __builtin_bit_cast(Half4, a.word),
                                                __builtin_bit_cast(Float4, sum.value), 0, 0, 0);
    } else {
      d = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(Short4, b.word),
                                                    __builtin_bit_cast(Short4, a.word),
                                                    __builtin_bit_cast(Float4, sum.value), 0, 0, 0);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) sum.value[e] = d[e];
  }
#else
  detail::multiply_emulated<kWave, kType>(sum, a, b);
#endif
}

}  // namespace biogpu::gpu
