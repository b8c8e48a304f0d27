#pragma once

// The epilogue of gemm.hpp on sums that lie in the lanes of a warpgroup as its products leave them,
// and their way to shared memory. Tile: of gemm_warpgroup_tile.hpp.

#include "gpu/ops/activation.hpp"
#include "gpu/ops/gemm/gemm.hpp"
#include "gpu/prim/number16.hpp"
#include "gpu/prim/tma_ring.hpp"
#include "gpu/prim/warpgroup.hpp"

namespace biogpu::gpu::ops {

struct alignas(8) Pair {
  float x, y;
};

// What one lane holds of 64 rows: rows row and row + 8, columns column + 8 j and the next.
struct LanePlace {
  int row, column;
};

template <class Tile>
using Sums = float[Tile::kRowTiles][Tile::kColumns / 2];

// The bias of a lane's columns, zeros where there is none.
struct LaneBias {
  const float* bias;
  int column, n;
  __device__ __forceinline__ Pair at(int further) const {
    if (bias == nullptr || column + further >= n) return {0, 0};
    return *reinterpret_cast<const Pair*>(bias + column + further);
  }
};

template <class Tile>
__device__ __forceinline__ void add_bias(const LaneBias& bias, Sums<Tile>& d) {
#pragma unroll
  for (int j = 0; j < Tile::kColumns / 8; ++j) {
    const Pair added = bias.at(8 * j);
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      d[i][4 * j] += added.x;
      d[i][4 * j + 1] += added.y;
      d[i][4 * j + 2] += added.x;
      d[i][4 * j + 3] += added.y;
    }
  }
}

// kApart: groups of 8 columns from a number to its partner.
template <class Tile, int kApart>
__device__ __forceinline__ void rotate(const GemmArgs& a, LanePlace lane, Sums<Tile>& d) {
  constexpr int kHalf = 8 * kApart;
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = lane.row + 64 * i + 8 * half;
      const int position = r < a.m ? a.epilogue.positions[r] : 0;
      const float* const angles =
          a.epilogue.cos_sin + std::int64_t{position} * 2 * kHalf + lane.column % 8;
#pragma unroll
      for (int in_head = 0; in_head < kApart; ++in_head) {
        const Pair cosine = *reinterpret_cast<const Pair*>(angles + 8 * in_head);
        const Pair sine = *reinterpret_cast<const Pair*>(angles + 8 * in_head + kHalf);
#pragma unroll
        for (int j = in_head; j + kApart < Tile::kColumns / 8; j += 2 * kApart) {
          if (lane.column + 8 * j >= a.epilogue.n_rotated) continue;
          float* const x = d[i] + 4 * j + 2 * half;
          float* const y = x + 4 * kApart;
          const float x0 = x[0], x1 = x[1];
          x[0] = x0 * cosine.x - y[0] * sine.x;
          x[1] = x1 * cosine.y - y[1] * sine.y;
          y[0] = y[0] * cosine.x + x0 * sine.x;
          y[1] = y[1] * cosine.y + x1 * sine.y;
        }
      }
    }
  }
}

template <class Tile>
__device__ __forceinline__ void rotate_heads(const GemmArgs& a, LanePlace lane, Sums<Tile>& d) {
  if (a.epilogue.head == 64) return rotate<Tile, 4>(a, lane, d);
  if (a.epilogue.head == 32) return rotate<Tile, 2>(a, lane, d);
  rotate<Tile, 1>(a, lane, d);
}

// How a tile's sums become 16-bit numbers: rarer activations are told apart where they are
// computed.
enum class TileActivation { none, gelu_erf, other };

template <Number16 kType, TileActivation kActivation>
__device__ __forceinline__ std::uint32_t activated_pair(Activation activation, float x, float y) {
  if constexpr (kActivation == TileActivation::gelu_erf)
    return number16_pair<kType>(gelu_to_16_bits(x), gelu_to_16_bits(y));
  if constexpr (kActivation == TileActivation::other)
    return number16_pair<kType>(activate(activation, x), activate(activation, y));
  return number16_pair<kType>(x, y);
}

// One box of this lane's sums to shared memory.
template <class Tile, TileActivation kActivation>
__device__ __forceinline__ void fill_box(Activation activation, const LaneBias& bias,
                                         std::uint32_t box, int first_column, const Sums<Tile>& d) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int wave_row = static_cast<int>(threadIdx.x) / 32 % 4 * 16;
  Pair added[Tile::kBoxColumns / 8];
#pragma unroll
  for (int j = 0; j < Tile::kBoxColumns / 8; ++j) added[j] = bias.at(first_column + 8 * j);
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kBoxColumns / 8; j += 2) {
      float from[8];
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const Pair of = added[j + e / 4];
        from[e] = d[i][(first_column / 8 + j) * 4 + e] + (e % 2 == 0 ? of.x : of.y);
      }
      if constexpr (Tile::kWide) {
#pragma unroll
        for (int p = 0; p < 4; ++p) {
          const int row = 64 * i + wave_row + lane / 4 + 8 * (p % 2);
          const int piece = 2 * (j + p / 2) + lane % 4 / 2;
          store_shared2(box + box_piece(row, piece) + lane % 2 * 8, from[2 * p], from[2 * p + 1]);
        }
      } else {
        std::uint32_t word[4];
#pragma unroll
        for (int p = 0; p < 4; ++p) {
          word[p] =
              activated_pair<Tile::kType, kActivation>(activation, from[2 * p], from[2 * p + 1]);
        }
        store_tiles4(box + box_piece(64 * i + wave_row + lane % 16, j + lane / 16), word);
      }
    }
  }
}

}  // namespace biogpu::gpu::ops
