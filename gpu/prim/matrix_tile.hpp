#pragma once

// One 16 x 16 x 16 product on the matrix cores: D[16, 16] += A[16, 16] * B[16, 16], bf16 operands,
// fp32 sums, shared out over the lanes of one wave as the hardware wants it: mma.sync m16n8k16
// twice on NVIDIA (wave 32), v_mfma_f32_16x16x16_bf16 on AMD (wave 64). The emulated platform
// computes the same product through shuffles of the documented layouts, so that the layouts are
// tested too. All lanes of the wave take part in every function.
//
// Source  NVIDIA PTX ISA, "Matrix Fragments for mma.m16n8k16"; AMD Instinct MI200 ISA, 7.1
// "Matrix".

#include <cstdint>

#include "gpu/prim/wave.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// bf16 numbers as bits, two in a word, the lower column (A) or row (B) in the low half.
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

#if defined(BIOGPU_GPU_EMULATED)
namespace detail {
inline float bf16_half(std::uint32_t word, int half) {
  return __builtin_bit_cast(float, half != 0 ? word & 0xffff0000u : word << 16);
}

// Which lane and word hold element (i, k) of an operand: the inverse of the loads above.
template <int kWave>
int lane_of(int i, int k) {
  return kWave == 32 ? i % 8 * 4 + k % 8 / 2 : k / 4 * 16 + i;
}
template <int kWave>
int word_of_a(int i, int k) {
  return kWave == 32 ? (i >= 8 ? 1 : 0) + (k >= 8 ? 2 : 0) : k % 4 / 2;
}
template <int kWave>
int word_of_b(int i, int k) {
  return kWave == 32 ? (k >= 8 ? 1 : 0) + (i >= 8 ? 2 : 0) : k % 4 / 2;
}

// Every lane lends each of its words once, so that all lanes shuffle equally often.
template <int kWave>
std::uint32_t borrow(const TileOperand<kWave>& operand, int lane, int word) {
  std::uint32_t result = 0;
  for (int w = 0; w < TileOperand<kWave>::kWords; ++w) {
    const std::uint32_t lent = wave_shuffle<kWave>(operand.word[w], lane);
    if (w == word) result = lent;
  }
  return result;
}
}  // namespace detail
#endif

template <int kWave>
__device__ __forceinline__ void multiply_tile(TileSum<kWave>& sum, const TileOperand<kWave>& a,
                                              const TileOperand<kWave>& b) {
#if defined(BIOGPU_GPU_CUDA)
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float* const d = sum.value + 4 * half;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[2 * half]),
          "r"(b.word[2 * half + 1]));
  }
#elif defined(BIOGPU_GPU_ROCM)
  if constexpr (kWave == 64) {
    using Float4 = float __attribute__((ext_vector_type(4)));
    using Short4 = short __attribute__((ext_vector_type(4)));
    // The instruction gives each lane four rows of one column; with the operands exchanged it gives
    // four columns of one row, which is what tile_row and tile_column say.
    const auto d = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
        __builtin_bit_cast(Short4, b.word), __builtin_bit_cast(Short4, a.word),
        __builtin_bit_cast(Float4, sum.value), 0, 0, 0);
#pragma unroll
    for (int e = 0; e < 4; ++e) sum.value[e] = d[e];
  }
#else
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    const int row = tile_row<kWave>(e), column = tile_column<kWave>(e);
    for (int k = 0; k < 16; ++k) {
      const auto a_word = detail::borrow<kWave>(a, detail::lane_of<kWave>(row, k),
                                                detail::word_of_a<kWave>(row, k));
      const auto b_word = detail::borrow<kWave>(b, detail::lane_of<kWave>(column, k),
                                                detail::word_of_b<kWave>(column, k));
      sum.value[e] += detail::bf16_half(a_word, k & 1) * detail::bf16_half(b_word, k & 1);
    }
  }
#endif
}

}  // namespace biogpu::gpu
