#pragma once

// How a bias that all batch rows share lies in memory for shared_bias_warpgroup.hip: as the lanes
// of a warpgroup hold a product of 64 queries and 64 keys, in fp16, in units of log2. Tiles of one
// head and two tiles of queries lie one behind the other, all steps of keys.

#include <cstdint>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::ops {

struct BiasLayout {
  static constexpr int kSide = 64;              // queries and keys of a tile
  static constexpr int kTiles = 2;              // tiles of queries that are used together
  static constexpr int kTile = kSide * kSide;   // numbers
  static constexpr int kPieces = 4;             // of a lane, 8 numbers each
  static constexpr int kPieceStride = 128 * 8;  // numbers from a piece of a lane to its next one

  int n_pairs = 0;  // of tiles of queries
  int n_steps = 0;  // tiles of keys

  __host__ __device__ static constexpr BiasLayout of(int n_queries, int n_keys) {
    constexpr int kQueries = kSide * kTiles;
    return {(n_queries + kQueries - 1) / kQueries, (n_keys + kSide - 1) / kSide};
  }
  // Numbers of one head.
  __host__ __device__ constexpr std::int64_t head_size() const {
    return std::int64_t{n_pairs} * n_steps * kTiles * kTile;
  }
  // Where the tiles of a step begin.
  __host__ __device__ constexpr std::int64_t step_at(int head, int pair, int step) const {
    return head * head_size() + (std::int64_t{pair} * n_steps + step) * kTiles * kTile;
  }
  // Within a tile: pair i of a lane's numbers, i < 16.
  __host__ __device__ static constexpr int pair_at(int thread, int i) {
    return i / 4 * kPieceStride + thread * 8 + i % 4 * 2;
  }
  // Which query and key of the tile that pair belongs to; the second number is of the next key.
  __host__ __device__ static constexpr int query_of(int thread, int i) {
    return thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8;
  }
  __host__ __device__ static constexpr int key_of(int thread, int i) {
    return i / 2 * 8 + thread % 4 * 2;
  }
};

// 4 words at a multiple of 16 bytes.
struct alignas(16) Words4 {
  std::uint32_t word[4];
};
__device__ __forceinline__ void load_words4(const void* from, std::uint32_t* word) {
  const auto four = *static_cast<const Words4*>(from);
  word[0] = four.word[0];
  word[1] = four.word[1];
  word[2] = four.word[2];
  word[3] = four.word[3];
}

}  // namespace biogpu::gpu::ops
