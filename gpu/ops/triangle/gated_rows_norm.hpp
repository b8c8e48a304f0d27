#pragma once

// The waves of gated_rows_kernel.hpp that normalise: rows of pairs become operands in shared
// memory, and sums of products over channels get the mean and the factor of their norm.

#include <cstring>

#include "gpu/ops/element_access.hpp"
#include "gpu/ops/triangle/gated_rows_tile.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/cache_hints.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/prim/number16.hpp"

namespace biogpu::gpu::ops {

// Numbers of some rows as they lie in memory, of which one lane has 8 of each slice.
template <class Tile>
struct UnitRows {
  Bytes16 bytes[Tile::kUnitGroups][Tile::kSlices][Tile::kWidePairs ? 2 : 1];
  __device__ __forceinline__ float at(int group, int slice, int i) const {
    const Bytes16& from = bytes[group][slice][Tile::kWidePairs ? i / 4 : 0];
    if constexpr (Tile::kWidePairs) {
      float x;
      memcpy(&x, &from.word[i % 4], sizeof x);
      return x;
    } else {
      return number16_of_pair<Tile::kType>(from.word[i / 2], i % 2);
    }
  }
};

template <class Tile>
__device__ __forceinline__ void load_unit(const GatedRowsArgs& a, int pair, UnitRows<Tile>& unit) {
  constexpr int kBytes = Tile::kWidePairs ? 4 : 2;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int g = 0; g < Tile::kUnitGroups; ++g) {
    const int row = row_of_pair(a, pair + 4 * g + lane / 8);
    const char* const from =
        static_cast<const char*>(a.z) +
        (std::int64_t{row < 0 ? 0 : row} * Tile::kChannels + lane % 8 * 8) * kBytes;
#pragma unroll
    for (int s = 0; s < Tile::kSlices; ++s) {
#pragma unroll
      for (int i = 0; i < (Tile::kWidePairs ? 2 : 1); ++i) {
        unit.bytes[g][s][i] =
            load_no_allocate(reinterpret_cast<const Bytes16*>(from + 64 * kBytes * s + 16 * i));
      }
    }
  }
}

__device__ __forceinline__ float sum_of_eight_lanes(float x) {
  x += wave_shuffle_xor<32>(x, 4);
  x += wave_shuffle_xor<32>(x, 2);
  return x + wave_shuffle_xor<32>(x, 1);
}

template <class Tile>
__device__ __forceinline__ void store_unit(const GatedRowsArgs& a, int first_row,
                                           std::uint8_t* rows, const UnitRows<Tile>& unit) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int piece = lane % 8;
  float mean[Tile::kUnitGroups], factor[Tile::kUnitGroups];
#pragma unroll
  for (int g = 0; g < Tile::kUnitGroups; ++g) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8 * Tile::kSlices; ++i) sum += unit.at(g, i / 8, i % 8);
    mean[g] = sum_of_eight_lanes(sum) * (1.0f / Tile::kChannels);
    float squares = 0;
#pragma unroll
    for (int i = 0; i < 8 * Tile::kSlices; ++i) {
      const float x = unit.at(g, i / 8, i % 8) - mean[g];
      squares += x * x;
    }
    const float variance = sum_of_eight_lanes(squares) * (1.0f / Tile::kChannels);
    factor[g] = fast_rsqrt(variance + a.eps_in);
  }
#pragma unroll
  for (int s = 0; s < Tile::kSlices; ++s) {
    const auto* const weights = reinterpret_cast<const Float4*>(a.weight_in + 64 * s + 8 * piece);
    const auto* const biases = reinterpret_cast<const Float4*>(a.bias_in + 64 * s + 8 * piece);
    const Float4 weight[2] = {weights[0], weights[1]}, bias[2] = {biases[0], biases[1]};
#pragma unroll
    for (int g = 0; g < Tile::kUnitGroups; ++g) {
      Bytes16 words;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float y[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int at = 2 * i + e;
          y[e] = (unit.at(g, s, at) - mean[g]) * factor[g] * weight[at / 4].value[at % 4] +
                 bias[at / 4].value[at % 4];
        }
        words.word[i] = number16_pair<Tile::kType>(y[0], y[1]);
      }
      const int row = first_row + 4 * g + lane / 8;
      *reinterpret_cast<Bytes16*>(rows + s * 128 * Tile::kRows + box_piece(row, piece)) = words;
    }
  }
}

// Mean and factor of 64 sums, which lie in the same place of each slice's boxes. One wave; a lane
// has 8 pairs of every fourth channel.
template <class Tile>
__device__ __forceinline__ void find_stats(const GatedRowsArgs& a, const std::uint8_t* sums,
                                           UpdateFacts* facts) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int piece = lane % 8;
  const auto load = [&](int s, int channel) {
    return *reinterpret_cast<const Bytes16*>(sums + 2 * s * Tile::kBoxBytes +
                                             box_piece(channel, piece));
  };
  // Sums of what numbers differ by from that of the first channel.
  float first[8], sum[8] = {}, squares[8] = {};
  const Bytes16 of_first = load(0, 0);
#pragma unroll
  for (int i = 0; i < 8; ++i) first[i] = number16_of_pair<Tile::kType>(of_first.word[i / 2], i % 2);
  for (int s = 0; s < Tile::kSlices; ++s) {
#pragma unroll 4
    for (int c = 0; c < 64; c += 4) {
      const Bytes16 words = load(s, c + lane / 8);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float x = number16_of_pair<Tile::kType>(words.word[i / 2], i % 2) - first[i];
        sum[i] += x;
        squares[i] += x * x;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float mean = sum[i], square = squares[i];
    mean += wave_shuffle_xor<32>(mean, 8);
    mean += wave_shuffle_xor<32>(mean, 16);
    square += wave_shuffle_xor<32>(square, 8);
    square += wave_shuffle_xor<32>(square, 16);
    mean *= 1.0f / Tile::kChannels;
    float variance = square * (1.0f / Tile::kChannels) - mean * mean;
    variance = variance < 0 ? 0 : variance;
    if (lane / 8 == i / 2) {
      facts[8 * piece + i].mean = mean + first[i];
      facts[8 * piece + i].factor = fast_rsqrt(variance + a.eps_out);
    }
  }
}

// What a lane finds of rows of a tile: its masks or numbers, loaded before they are needed.
template <class Tile>
struct LaneFacts {
  static constexpr int kApart = 32 * Tile::kNormWaves;
  static constexpr int kCount = (Tile::kRows + kApart - 1) / kApart;
  int first;
  float mask[kCount];
  int row[kCount];

  __device__ __forceinline__ LaneFacts(const GatedRowsArgs& a, int pair, int wave)
      : first(32 * wave + static_cast<int>(threadIdx.x) % 32) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = first + kApart * i;
      row[i] = at < Tile::kRows ? row_of_pair(a, pair + at) : -1;
      if constexpr (!Tile::kUpdates)
        mask[i] = row[i] < 0 ? 0.0f : a.mask == nullptr ? 1.0f : a.mask[row[i]];
    }
  }
  __device__ __forceinline__ void store(typename Tile::Facts* facts) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = first + kApart * i;
      if (at >= Tile::kRows) continue;
      if constexpr (Tile::kUpdates) {
        facts[at].row = row[i];
      } else {
        facts[at].mask = mask[i];
      }
    }
  }
};

// Some waves: normalised rows of all tiles, and facts of their rows.
template <class Tile>
__device__ __forceinline__ void norm_gated_tiles(const GatedRowsArgs& a,
                                                 const GatedOrder<Tile>& order,
                                                 const GatedShared<Tile>& shared, int wave) {
  constexpr int kUnits = Tile::kRows / Tile::kUnitRows;
  PipelineState<Tile::kBuffers> buffer;
  for (int step = 0; step < order.n_steps; ++step) {
    const int pair = order.pair(step);
    UnitRows<Tile> unit;
    if (wave < Tile::kUnitWaves) load_unit<Tile>(a, pair + wave * Tile::kUnitRows, unit);
    const LaneFacts<Tile> facts(a, pair, wave);
    barrier_wait(shared.rows_empty(buffer.stage), buffer.parity ^ 1);
    facts.store(shared.facts(buffer.stage));
    if (wave < Tile::kUnitWaves) {
      for (int u = wave; u < kUnits; u += Tile::kUnitWaves) {
        UnitRows<Tile> next;
        const int after = u + Tile::kUnitWaves < kUnits ? u + Tile::kUnitWaves : u;
        load_unit<Tile>(a, pair + after * Tile::kUnitRows, next);
        store_unit<Tile>(a, u * Tile::kUnitRows, shared.rows(buffer.stage), unit);
        unit = next;
      }
    }
    if constexpr (Tile::kUpdates) {
      const int half = wave - (Tile::kNormWaves - 2);
      if (half >= 0) {
        barrier_wait(shared.sums_full(buffer.stage), buffer.parity);
        find_stats<Tile>(a, shared.sums(buffer.stage) + half * Tile::kBoxBytes,
                         shared.facts(buffer.stage) + 64 * half);
      }
    }
    publish_shared();
    wave_sync<32>();
    if (one_lane()) barrier_arrive(shared.rows_full(buffer.stage));
    buffer.advance();
  }
}

}  // namespace biogpu::gpu::ops
