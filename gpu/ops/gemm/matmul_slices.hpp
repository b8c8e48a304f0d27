#pragma once

// The loop of a product of 16-bit operands over slices of the summed index, which pass through
// shared memory as they lie: [row][k], or [k][row] where rows lie next to each other.

#include "gpu/ops/gemm/matmul_args.hpp"

namespace biogpu::gpu::ops {

// A slice of kCount rows in shared memory; 16 bytes more a line: reads of 8 lines meet no bank
// twice.
template <Along kAlong, int kCount>
inline constexpr int kSlicePitch = kAlong == Along::k ? gemm_tile::kPitch : kCount + 8;
template <Along kAlong, int kCount>
inline constexpr int kSliceSize = kSlicePitch<kAlong, kCount>*(kAlong == Along::k
                                                                   ? kCount
                                                                   : gemm_tile::kDepth);
template <class Tile, Along kA, Along kB>
inline constexpr int kMatmulSlice =
    kSliceSize<kA, gemm_tile::kRows<Tile>> + kSliceSize<kB, gemm_tile::kColumns<Tile>>;

// Copies kDepth numbers, from k on, of kCount rows, from `row` on; zeros beyond the operand.
template <Along kAlong, int kCount, int kThreads>
__device__ __forceinline__ void copy_operand(const OperandRows<std::uint16_t>& from, int row, int k,
                                             std::uint16_t* to) {
  // Lines of numbers that lie next to each other.
  constexpr bool kByRow = kAlong == Along::k;
  constexpr int kLines = kByRow ? kCount : gemm_tile::kDepth;
  constexpr int kLength = kByRow ? gemm_tile::kDepth : kCount;
  constexpr int kPitch = kSlicePitch<kAlong, kCount>;
  const std::int64_t line_stride = kByRow ? from.row_stride : from.k_stride;
  const std::int64_t stride = kByRow ? from.k_stride : from.row_stride;
  const int first = kByRow ? row : k, begin = kByRow ? k : row;
  const int n_lines = kByRow ? from.n_rows : from.n_k, n = kByRow ? from.n_k : from.n_rows;
  const auto number = [&](int line, int at) {
    const bool valid = first + line < n_lines && begin + at < n;
    return valid ? from.data[(first + line) * line_stride + (begin + at) * stride]
                 : std::uint16_t{0};
  };
  if (from.in_16_bytes) {
    constexpr int kPieces = kLength / 8;
#pragma unroll
    for (int i = static_cast<int>(threadIdx.x); i < kLines * kPieces; i += kThreads) {
      const int line = i / kPieces, at = i % kPieces * 8;
      const bool valid = first + line < n_lines && begin + at < n;
      if (valid && begin + at + 8 > n) {  // the end of a line
        for (int j = 0; j < 8; ++j) to[line * kPitch + at + j] = number(line, at + j);
      } else {
        const std::int64_t source = valid ? (first + line) * line_stride + begin + at : 0;
        copy_async16(to + line * kPitch + at, from.data + source, valid);
      }
    }
    return;
  }
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x); i < kLines * kLength; i += kThreads) {
    const int line = i / kLength, at = i % kLength;
    to[line * kPitch + at] = number(line, at);
  }
}

// Adds the products of a slice in shared memory to this wave's sums.
template <int kWave, Number16 kType, class Tile, Along kA, Along kB>
__device__ __forceinline__ void multiply_operands(gemm_tile::WaveSums<kWave, Tile>& sum,
                                                  gemm_tile::Place wave, const std::uint16_t* a) {
  constexpr int kPitchA = kSlicePitch<kA, gemm_tile::kRows<Tile>>;
  constexpr int kPitchB = kSlicePitch<kB, gemm_tile::kColumns<Tile>>;
  const std::uint16_t* const b = a + kSliceSize<kA, gemm_tile::kRows<Tile>>;
#pragma unroll
  for (int k = 0; k < gemm_tile::kDepth; k += 16) {
    TileOperand<kWave> x[Tile::kRowTiles];
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      const int row = wave.row + 16 * i;
      if constexpr (kA == Along::k) {
        x[i] = load_shared_a<kWave>(a + row * kPitchA + k, kPitchA);
      } else {
        x[i] = load_shared_a_columns<kWave>(a + k * kPitchA + row, kPitchA);
      }
    }
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
      const int column = wave.column + 16 * j;
      TileOperand<kWave> y;
      if constexpr (kB == Along::k) {
        y = load_shared_b<kWave>(b + column * kPitchB + k, kPitchB);
      } else {
        y = load_shared_b_rows<kWave>(b + k * kPitchB + column, kPitchB);
      }
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) multiply_tile<kWave, kType>(sum[i][j], x[i], y);
    }
  }
}

}  // namespace biogpu::gpu::ops
