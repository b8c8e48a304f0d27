#pragma once

// What becomes of sums in gated_rows_kernel.hpp: sides, turned so that pairs of a channel lie side
// by side, or updates of pairs.

#include <cstdint>
#include <type_traits>

#include "gpu/ops/activation.hpp"
#include "gpu/ops/triangle/gated_rows_tile.hpp"
#include "gpu/prim/number16.hpp"

namespace biogpu::gpu::ops {

// What a lane computes at a time: 64 channels of two rows of pairs.
template <class Tile>
struct GatedPlace {
  int pair;     // first of the warpgroup's
  int channel;  // first of the chunk
  typename Tile::Facts facts[2];
};

struct alignas(8) Numbers2 {
  float x[2];
};

__device__ __forceinline__ Numbers2 numbers2_at(const float* values, int column) {
  return *reinterpret_cast<const Numbers2*>(values + column);
}

// Numbers as they lie in memory.
template <class Tile>
struct Residual {
  std::conditional_t<Tile::kWidePairs, Numbers2, std::uint32_t> of[Tile::kGroupsOfPiece][2];
  __device__ __forceinline__ float at(int group, int half, int e) const {
    if constexpr (Tile::kWidePairs) {
      return of[group][half].x[e];
    } else {
      return number16_of_pair<Tile::kType>(of[group][half], e);
    }
  }
};

// kPiece: which groups of 8 channels of a chunk. Zeros where nothing is added.
template <class Tile, int kPiece>
__device__ __forceinline__ Residual<Tile> load_residual(const GatedRowsArgs& a,
                                                        const GatedPlace<Tile>& place) {
  Residual<Tile> residual = {};
  if constexpr (Tile::kUpdates) {
    if (a.residual.data == nullptr) return residual;
    constexpr int kBytes = Tile::kWidePairs ? 4 : 2;
    const int column = place.channel + 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = place.facts[h].row < 0 ? 0 : place.facts[h].row;
      const char* const from =
          static_cast<const char*>(a.residual.data) + (row * a.residual.stride + column) * kBytes;
#pragma unroll
      for (int g = 0; g < Tile::kGroupsOfPiece; ++g) {
        const int further = 8 * kBytes * (kPiece * Tile::kGroupsOfPiece + g);
        auto& to = residual.of[g][h];
        to = *reinterpret_cast<const std::remove_reference_t<decltype(to)>*>(from + further);
      }
    }
  }
  return residual;
}

using GatedSums = float[64];  // 32 of a product, then 32 of its gate

// Sides: gated numbers of two groups of channels at a time to the warpgroup's box, turned.
template <class Tile, int kPiece>
__device__ __forceinline__ void finish_sides(const GatedRowsArgs& a, const GatedPlace<Tile>& place,
                                             std::uint32_t box, const GatedSums& d) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int wave = static_cast<int>(threadIdx.x) / 32 % 4;
#pragma unroll
  for (int g = 0; g < Tile::kGroupsOfPiece; g += 2) {
    std::uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int j = kPiece * Tile::kGroupsOfPiece + g + i;
      const int column = place.channel + 8 * j + 2 * (lane % 4);
      Numbers2 bias = {{0, 0}}, gate_bias = {{0, 0}};
      if (a.value_bias != nullptr) {
        bias = numbers2_at(a.value_bias, column);
        gate_bias = numbers2_at(a.gate_bias, column);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float y[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int at = 4 * j + 2 * h + e;
          y[e] = (d[at] + bias.x[e]) * sigmoid(d[32 + at] + gate_bias.x[e]) * place.facts[h].mask;
        }
        word[2 * i + h] = number16_pair<Tile::kType>(y[0], y[1]);
      }
    }
    const int channel = 8 * (kPiece * Tile::kGroupsOfPiece + g + lane / 16) + lane % 8;
    store_turned_tiles4(box + box_piece(channel, 2 * wave + lane / 8 % 2), word);
  }
}

template <class Tile, int kPiece>
__device__ __forceinline__ void finish_update(const GatedRowsArgs& a, const float* vectors,
                                              const GatedPlace<Tile>& place,
                                              const Residual<Tile>& residual, const GatedSums& d) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int g = 0; g < Tile::kGroupsOfPiece; ++g) {
    const int j = kPiece * Tile::kGroupsOfPiece + g;
    const int column = place.channel + 8 * j + 2 * (lane % 4);
    const Numbers2 sum = numbers2_at(vectors, column);
    const Numbers2 bias = numbers2_at(vectors + Tile::kChannels, column);
    const Numbers2 gate_bias = numbers2_at(vectors + 2 * Tile::kChannels, column);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const UpdateFacts& facts = place.facts[h];
      float y[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int at = 4 * j + 2 * h + e;
        const float value = (d[at] - facts.mean * sum.x[e]) * facts.factor + bias.x[e];
        y[e] = residual.at(g, h, e) + value * sigmoid(d[32 + at] + gate_bias.x[e]);
      }
      if (facts.row < 0) continue;
      const std::int64_t to = facts.row * a.out.stride + column;
      if constexpr (Tile::kWidePairs) {
        *reinterpret_cast<Numbers2*>(static_cast<float*>(a.out.data) + to) = {{y[0], y[1]}};
      } else {
        *reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(a.out.data) + to) =
            number16_pair<Tile::kType>(y[0], y[1]);
      }
    }
  }
}

// What updates read of their channels, to shared memory, by all threads of a block.
template <class Tile>
__device__ __forceinline__ void load_vectors(const GatedRowsArgs& a, float* vectors) {
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kChannels; i += Tile::kThreads) {
    vectors[i] = a.weight_sums[i];
    vectors[Tile::kChannels + i] = a.value_bias[i];
    vectors[2 * Tile::kChannels + i] = a.gate_bias == nullptr ? 0.0f : a.gate_bias[i];
  }
}

}  // namespace biogpu::gpu::ops
