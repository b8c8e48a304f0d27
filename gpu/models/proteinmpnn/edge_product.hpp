#pragma once

// Products of the 48 edges of a node with a weight of kHidden columns on the matrix cores, with
// the precision of fp32: both operands are sums of two fp16 numbers, the low one times 2^11, and
// of their four products the three largest are summed. A block of kWaves waves takes all rows; each
// wave takes 16 columns.

#include "gpu/models/proteinmpnn/edge_weights.hpp"
#include "gpu/ops/split_number16.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "lib/tensor/linear.hpp"

namespace biogpu::gpu::proteinmpnn::edges {

using ops::kLowScale;
using ops::split_pair;
using ops::SplitPair;

inline constexpr int kHidden = 128;
inline constexpr int kMaxNeighbours = 48;  // edges of a node

// For many rows at once: [kHidden, n_in] as launch_pack() writes it.
struct Product {
  const std::uint32_t* words = nullptr;
  const float* bias = nullptr;  // [kHidden], or not given
  int n_steps = 0;              // of 16 inputs
};
inline Product product_of(const tensor::Linear* linear) {
  if (linear == nullptr) return {};
  const auto& packed = *static_cast<const BlockLinear*>(linear->packed);
  return {packed.words, packed.bias, packed.n_steps};
}

struct Norm {
  const float* weight = nullptr;
  const float* bias = nullptr;
};
inline Norm norm_of(const tensor::Norm& norm) {
  return {norm.weight.as<float>(), norm.bias.as<float>()};
}

inline constexpr int kWaves = kHidden / 16;
template <int kWave>
inline constexpr unsigned kThreads = kWaves* kWave;

inline constexpr int kRowTiles = kMaxNeighbours / 16;
inline constexpr int kPitch = kHidden + 8;  // of rows in shared memory, read without conflicts
inline constexpr int kPieceWords = 256;     // 16 x 16 weights, high and low
inline constexpr int kAhead = 4;            // pieces on their way; steps come in multiples of it

// The left operand, in shared memory.
struct alignas(16) SplitRows {
  std::uint16_t high[kMaxNeighbours * kPitch];
  std::uint16_t low[kMaxNeighbours * kPitch];
};

// column: even.
__device__ __forceinline__ void store_split(SplitRows& to, int row, int column, float x, float y) {
  const SplitPair pair = split_pair<Number16::fp16>(x, y);
  *reinterpret_cast<std::uint32_t*>(to.high + row * kPitch + column) = pair.high;
  *reinterpret_cast<std::uint32_t*>(to.low + row * kPitch + column) = pair.low;
}

template <int kWave>
struct SplitOperand {
  TileOperand<kWave> high, low;
};

template <int kWave>
__device__ __forceinline__ SplitOperand<kWave> load_piece(const std::uint32_t* piece) {
  constexpr int kWords = TileOperand<kWave>::kWords;
  struct alignas(4 * kWords) Words {
    std::uint32_t word[kWords];
  };
  const auto* const words = reinterpret_cast<const Words*>(piece) + wave_lane<kWave>();
  const Words high = words[0], low = words[kWave];
  SplitOperand<kWave> operand;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    operand.high.word[w] = high.word[w];
    operand.low.word[w] = low.word[w];
  }
  return operand;
}

// A wave's part of a weight, the first pieces on their way before they are needed.
template <int kWave>
struct Pieces {
  const std::uint32_t* next = nullptr;
  int n_left = 0;  // not asked for yet
  SplitOperand<kWave> piece[kAhead];
};

template <int kWave>
__device__ __forceinline__ Pieces<kWave> begin_product(const Product& weight) {
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  Pieces<kWave> pieces;
  pieces.next = weight.words + wave * weight.n_steps * kPieceWords;
  pieces.n_left = weight.n_steps - kAhead;
#pragma unroll
  for (int s = 0; s < kAhead; ++s)
    pieces.piece[s] = load_piece<kWave>(pieces.next + s * kPieceWords);
  pieces.next += kAhead * kPieceWords;
  return pieces;
}

template <int kWave>
struct SplitSums {
  TileSum<kWave> high[kRowTiles];
  TileSum<kWave> low[kRowTiles];
};

// sums += rows [0, 16 n_row_tiles) times the next n_steps of 16 inputs, which lie in `rows`.
template <int kWave>
__device__ __forceinline__ void multiply_rows(const SplitRows& rows, int n_row_tiles, int n_steps,
                                              Pieces<kWave>& pieces, SplitSums<kWave>& sums) {
  constexpr Number16 kType = Number16::fp16;
  for (int first = 0; first < n_steps; first += kAhead) {
#pragma unroll
    for (int s = 0; s < kAhead; ++s) {
      const SplitOperand<kWave> b = pieces.piece[s];
      if (pieces.n_left > 0) {
        pieces.piece[s] = load_piece<kWave>(pieces.next);
        pieces.next += kPieceWords;
        --pieces.n_left;
      }
#pragma unroll
      for (int t = 0; t < kRowTiles; ++t) {
        if (t >= n_row_tiles) continue;
        const int at = 16 * t * kPitch + 16 * (first + s);
        const TileOperand<kWave> high = load_shared_a<kWave>(rows.high + at, kPitch);
        const TileOperand<kWave> low = load_shared_a<kWave>(rows.low + at, kPitch);
        multiply_tile<kWave, kType>(sums.high[t], high, b.high);
        multiply_tile<kWave, kType>(sums.low[t], high, b.low);
        multiply_tile<kWave, kType>(sums.low[t], low, b.high);
      }
    }
  }
}

template <int kWave>
struct Tiles {
  TileSum<kWave> tile[kRowTiles];
};

template <int kWave>
__device__ __forceinline__ Tiles<kWave> joined(const SplitSums<kWave>& sums) {
  Tiles<kWave> x;
#pragma unroll
  for (int t = 0; t < kRowTiles; ++t) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e)
      x.tile[t].value[e] = sums.high[t].value[e] + sums.low[t].value[e] * (1.0f / kLowScale);
  }
  return x;
}

// rows times a whole weight of kHidden inputs, whose first pieces are on their way.
template <int kWave>
__device__ __forceinline__ Tiles<kWave> multiply_whole(const SplitRows& rows, int n_row_tiles,
                                                       Pieces<kWave>& pieces) {
  SplitSums<kWave> sums = {};
  multiply_rows<kWave>(rows, n_row_tiles, kHidden / 16, pieces, sums);
  return joined<kWave>(sums);
}

// Calls body(row, column, first, second) for the pairs of neighbouring columns that this lane holds
// in rows [0, 16 n_row_tiles); body may change them.
template <int kWave, class Body>
__device__ __forceinline__ void for_pairs(Tiles<kWave>& x, int n_row_tiles, Body&& body) {
  const int column = static_cast<int>(threadIdx.x) / kWave * 16;
#pragma unroll
  for (int t = 0; t < kRowTiles; ++t) {
    if (t >= n_row_tiles) continue;
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; e += 2)
      body(16 * t + tile_row<kWave>(e), column + tile_column<kWave>(e), x.tile[t].value[e],
           x.tile[t].value[e + 1]);
  }
}

// sum[kHidden] = the sum over rows; rows that do not count are 0. Shared memory.
template <int kWave>
__device__ __forceinline__ void sum_rows(const Tiles<kWave>& x, float* sum) {
  constexpr int kColumns = 4;  // that a lane holds
  float of_column[kColumns] = {};
#pragma unroll
  for (int t = 0; t < kRowTiles; ++t) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      const int c = kWave == 32 ? (e & 1) + (e >> 2 & 1) * 2 : e;
      of_column[c] += x.tile[t].value[e];
    }
  }
  const int lane = wave_lane<kWave>(), wave = static_cast<int>(threadIdx.x) / kWave;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    constexpr int kFirst = kWave == 32 ? 4 : 1, kEnd = kWave == 32 ? 32 : 16;
#pragma unroll
    for (int mask = kFirst; mask < kEnd; mask *= 2)
      of_column[c] += wave_shuffle_xor<kWave>(of_column[c], mask);
    const bool first_row = kWave == 32 ? lane < 4 : lane % 16 == 0;
    const int e = kWave == 32 ? (c & 1) + (c >> 1) * 4 : c;
    if (first_row) sum[16 * wave + tile_column<kWave>(e)] = of_column[c];
  }
}

// Room in shared memory for normalise_rows().
struct NormRoom {
  float sum[kMaxNeighbours][kWaves];
  float squares[kMaxNeighbours][kWaves];
};

// One number of each row summed over the lanes of all waves: of row slot s of tile t.
template <int kWave, class Value>
__device__ __forceinline__ void sum_columns(int n_row_tiles, float (*room)[kWaves],
                                            const Value& value) {
  const int wave = static_cast<int>(threadIdx.x) / kWave;
#pragma unroll
  for (int t = 0; t < kRowTiles; ++t) {
    if (t >= n_row_tiles) continue;
#pragma unroll
    for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
      float sum = 0;
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; ++e)
        if (tile_row_slot<kWave>(e) == slot) sum += value(t, e);
      sum = reduce_tile_row<kWave>(sum, [](float a, float b) { return a + b; });
      room[16 * t + tile_row<kWave>(2 * slot)][wave] = sum;
    }
  }
  __syncthreads();
}

__device__ __forceinline__ float sum_of_waves(const float* room) {
  float sum = 0;
#pragma unroll
  for (int w = 0; w < kWaves; ++w) sum += room[w];
  return sum;
}

// LayerNorm of every row over its kHidden columns, eps 1e-5. The whole block, which has no
// barrier to do behind it.
template <int kWave>
__device__ __forceinline__ void normalise_rows(Tiles<kWave>& x, int n_row_tiles, const Norm& norm,
                                               NormRoom& room) {
  sum_columns<kWave>(n_row_tiles, room.sum, [&](int t, int e) { return x.tile[t].value[e]; });
#pragma unroll
  for (int t = 0; t < kRowTiles; ++t) {
    if (t >= n_row_tiles) continue;
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e)
      x.tile[t].value[e] -= sum_of_waves(room.sum[16 * t + tile_row<kWave>(e)]) * (1.0f / kHidden);
  }
  sum_columns<kWave>(n_row_tiles, room.squares,
                     [&](int t, int e) { return x.tile[t].value[e] * x.tile[t].value[e]; });
  for_pairs<kWave>(x, n_row_tiles, [&](int row, int column, float& first, float& second) {
    const float variance = sum_of_waves(room.squares[row]) * (1.0f / kHidden);
    const float factor = 1.0f / sqrtf(variance + 1e-5f);
    first = first * factor * norm.weight[column] + norm.bias[column];
    second = second * factor * norm.weight[column + 1] + norm.bias[column + 1];
  });
}

}  // namespace biogpu::gpu::proteinmpnn::edges
