#pragma once

// The epilogue of gemm.hpp on sums that lie in the lanes of a wave as the matrix cores leave them.

#include "gpu/ops/gemm/gemm.hpp"
#include "gpu/ops/output_access.hpp"
#include "gpu/prim/matrix_tile.hpp"

namespace biogpu::gpu::ops {

// Values next to each other in a row that one lane stores at once: 2 on NVIDIA, 4 on AMD.
template <int kWave>
inline constexpr int kStoreWidth = kWave == 32 ? 2 : 4;

// Adds the bias, or leaves the sums; columns past n are not read.
template <int kWave, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void add_bias(TileSum<kWave> (&sum)[kRowTiles][kColumnTiles],
                                         const GemmArgs& a, int column) {
  if (a.epilogue.bias == nullptr) return;
#pragma unroll
  for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      const int c = column + 16 * j + tile_column<kWave>(e);
      const float bias = c < a.n ? a.epilogue.bias[c] : 0.0f;
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) sum[i][j].value[e] += bias;
    }
  }
}

// Rotates column c with column c + head / 2, which lies kApart tiles further in the same lane.
template <int kWave, int kApart, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void rotate_tiles(TileSum<kWave> (&sum)[kRowTiles][kColumnTiles],
                                             const GemmArgs& a, int row, int column) {
  constexpr int kHalf = 16 * kApart;
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j + kApart < kColumnTiles; ++j) {
      if (j / kApart % 2 != 0) continue;
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
        const int r = row + 16 * i + tile_row<kWave>(e);
        const int c = column + 16 * j + tile_column<kWave>(e);
        if (r >= a.m || c >= a.epilogue.n_rotated) continue;
        const float* const angles =
            a.epilogue.cos_sin + std::int64_t{a.epilogue.positions[r]} * 2 * kHalf + c % kHalf;
        const float x = sum[i][j].value[e], y = sum[i][j + kApart].value[e];
        sum[i][j].value[e] = x * angles[0] - y * angles[kHalf];
        sum[i][j + kApart].value[e] = y * angles[0] + x * angles[kHalf];
      }
    }
  }
}

// Heads of 16: column c and c + 8 lie in one tile, in one lane of 32 or in two of 64.
template <int kWave, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void rotate_within_tiles(TileSum<kWave> (&sum)[kRowTiles][kColumnTiles],
                                                    const GemmArgs& a, int row, int column) {
  constexpr int kOther = kWave == 32 ? 4 : 0;  // from column c to c + 8 in a lane's values
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int r = row + 16 * i + tile_row<kWave>(e);
        const int in_tile = tile_column<kWave>(e);
        float* const value = sum[i][j].value;
        const float other =
            kWave == 32 ? value[e + kOther] : wave_shuffle_xor<kWave>(value[e], kWave / 2);
        if (r >= a.m || column + 16 * j >= a.epilogue.n_rotated) continue;
        const float* const angles =
            a.epilogue.cos_sin + std::int64_t{a.epilogue.positions[r]} * 16 + in_tile % 8;
        if constexpr (kWave == 32) {
          const float mine = value[e];
          value[e] = mine * angles[0] - other * angles[8];
          value[e + kOther] = other * angles[0] + mine * angles[8];
        } else {
          const float sine = in_tile < 8 ? -angles[8] : angles[8];
          value[e] = value[e] * angles[0] + other * sine;
        }
      }
    }
  }
}

template <int kWave, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void rotate(TileSum<kWave> (&sum)[kRowTiles][kColumnTiles],
                                       const GemmArgs& a, int row, int column) {
  if (a.epilogue.cos_sin == nullptr || column >= a.epilogue.n_rotated) return;
  if (a.epilogue.head == 16) return rotate_within_tiles<kWave>(sum, a, row, column);
  if (a.epilogue.head == 32) return rotate_tiles<kWave, 1>(sum, a, row, column);
  if constexpr (kColumnTiles >= 4) rotate_tiles<kWave, 2>(sum, a, row, column);
}

// Stores what one lane holds of one row of a tile, at column c: kStoreWidth neighbours.
template <int kWidth>
__device__ __forceinline__ void store_values(const GemmArgs& a, int r, int c, const float* value) {
  float y[kWidth];
#pragma unroll
  for (int i = 0; i < kWidth; ++i) y[i] = activate(a.epilogue.activation, value[i]);
  if (a.epilogue.residual.data != nullptr) {
    float x[kWidth];
    load_neighbours<kWidth>(a.epilogue.residual, r, c, a.n, x);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) y[i] += x[i];
  }
  store_neighbours<kWidth>(a.out, r, c, a.n, y);
}

// row and column: of the first of kRowTiles x kColumnTiles tiles, column a multiple of the head
// that is rotated.
template <int kWave, int kRowTiles, int kColumnTiles>
__device__ __forceinline__ void finish_gemm(TileSum<kWave> (&sum)[kRowTiles][kColumnTiles],
                                            const GemmArgs& a, int row, int column) {
  constexpr int kWidth = kStoreWidth<kWave>;
  add_bias<kWave>(sum, a, column);
  rotate<kWave>(sum, a, row, column);
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; e += kWidth) {
        const int r = row + 16 * i + tile_row<kWave>(e);
        const int c = column + 16 * j + tile_column<kWave>(e);
        if (r < a.m && c < a.n) store_values<kWidth>(a, r, c, sum[i][j].value + e);
      }
    }
  }
}

}  // namespace biogpu::gpu::ops
