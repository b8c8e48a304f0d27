#pragma once

// Attention of small_encoder.hip: keys and values of all groups of the sequence, and the heads that
// a block hands to its group.

#include "gpu/nn/small_encoder_block.hpp"

namespace biogpu::gpu::nn {

// Where a tile of keys (kind [0, kHeadTiles)) or values (above) lies, and its flag.
template <class B>
__device__ __forceinline__ int key_index(const B&, int head, int kind) {
  return (head * 2 * B::kHeadTiles + kind) * kMostTiles;
}
template <class B>
__device__ __forceinline__ std::uint32_t* key_tile(const B& b, int layer, int index) {
  const int n = b.part.mixed_tiles() * 2 * kMostTiles;
  return b.keys + ((layer & 1) * n + index) * B::kTileNumbers + b.lane * B::kLaneNumbers;
}

// Attention of the group's rows for one head, over every kKeyParts-th step of keys.
template <class B>
__device__ __forceinline__ void attend(const B& b, int layer, int head_index, int key_part,
                                       AttentionState<B> (&state)[B::kRowTiles]) {
  constexpr int kWave = B::kWave;
  const int head = b.part.head(head_index), n_tiles = (b.length + 15) / 16;
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
#pragma unroll
    for (int d = 0; d < B::kHeadTiles; ++d)
      state[r].query[0][d] = load_piece<kWave>(b.at(b.q, head_index * B::kHeadTiles + d, r));
#pragma unroll
    for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
      state[r].top[slot] = kMinusInfinity;
      state[r].sum[slot] = 0;
    }
  }
  for (int first = key_part * kKeyTiles; first < n_tiles; first += kKeyParts * kKeyTiles) {
    TileOperand<kWave> keys[kKeyTiles][2 * B::kHeadTiles];
    int tries = 0;
    // Each lane asks for one tile, until all are there: reading them all again costs more.
    const int kind = b.lane / kKeyTiles % (2 * B::kHeadTiles), tile = first + b.lane % kKeyTiles;
    const std::uint32_t* const asked =
        b.keys +
        (key_tile(b, layer,
                  key_index(b, head, kind) + b.first_tile + (tile < n_tiles ? tile : first)) -
         b.keys - b.lane * B::kLaneNumbers);
    while (!wave_all<kWave>(has_words(asked, b.epoch + layer + 1))) bound_reads(tries);
    for (bool there = false; !there; bound_reads(tries)) {
      there = true;
#pragma unroll
      for (int d = 0; d < 2 * B::kHeadTiles; ++d) {
        const std::uint32_t* const at =
            key_tile(b, layer, key_index(b, head, d) + b.first_tile + first);
#pragma unroll
        for (int j = 0; j < kKeyTiles; ++j)
          there &= read_words(at + (first + j < n_tiles ? j : 0) * B::kTileNumbers, keys[j][d].word,
                              b.epoch + layer + 1);
      }
      there = wave_all<kWave>(there);
    }
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r) {
      Scores<B> scores = {};
#pragma unroll
      for (int j = 0; j < kKeyTiles; ++j) {
#pragma unroll
        for (int d = 0; d < B::kHeadTiles; ++d)
          multiply_tile<kWave, B::kType>(scores[j], state[r].query[0][d], keys[j][d]);
      }
      if (16 * (first + kKeyTiles) > b.length) {
#pragma unroll
        for (int j = 0; j < kKeyTiles; ++j) {
#pragma unroll
          for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
            if (16 * (first + j) + tile_column<kWave>(e) >= b.length)
              scores[j].value[e] = kMinusInfinity;
          }
        }
      }
      weigh_scores<B>(state[r], scores, b.a.score_scale * kLog2E);
#pragma unroll
      for (int j = 0; j < kKeyTiles; ++j) {
        const auto weights = operand_of_sum<kWave, B::kType, false>(scores[j]);
#pragma unroll
        for (int d = 0; d < B::kHeadTiles; ++d)
          multiply_tile<kWave, B::kType>(state[r].out[d], weights, keys[j][B::kHeadTiles + d]);
      }
    }
  }
}

// Where a wave leaves what it found, for the first wave of its head: out, then top and sum.
template <class B>
__device__ __forceinline__ void leave_state(const B& b, int wave,
                                            AttentionState<B> (&state)[B::kRowTiles]) {
  constexpr int kSlots = kTileRowSlots<B::kWave>;
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    const int at = (wave * B::kRowTiles + r) * (B::kHeadTiles + 1);
#pragma unroll
    for (int d = 0; d < B::kHeadTiles; ++d) store_sum(b, b.sums, at + d, state[r].out[d]);
    Float4 rest = {};
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      rest.value[slot] = state[r].top[slot];
      rest.value[2 + slot] = state[r].sum[slot];
    }
    *reinterpret_cast<Float4*>(sum_at(b, b.sums, at + B::kHeadTiles, 0)) = rest;
  }
}

// The parts of a head together, to all blocks of the group.
template <class B>
__device__ __forceinline__ void share_head(const B& b, int head_index) {
  constexpr int kWave = B::kWave, kSlots = kTileRowSlots<kWave>;
  const auto add = [](float u, float v) { return u + v; };
  const int n_heads = b.part.n_heads();
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    float factor[kKeyParts][kSlots], top[kSlots], sum[kSlots] = {};
    Float4 rest[kKeyParts];
#pragma unroll
    for (int p = 0; p < kKeyParts; ++p) {
      const int at = ((p * n_heads + head_index) * B::kRowTiles + r) * (B::kHeadTiles + 1);
      rest[p] = *reinterpret_cast<const Float4*>(sum_at(b, b.sums, at + B::kHeadTiles, 0));
    }
#pragma unroll
    for (int slot = 0; slot < kSlots; ++slot) {
      top[slot] = kMinusInfinity;
#pragma unroll
      for (int p = 0; p < kKeyParts; ++p) top[slot] = fmaxf(top[slot], rest[p].value[slot]);
#pragma unroll
      for (int p = 0; p < kKeyParts; ++p) {
        factor[p][slot] = fast_exp2(rest[p].value[slot] - top[slot]);
        sum[slot] += rest[p].value[2 + slot] * factor[p][slot];
      }
      sum[slot] = 1.0f / reduce_tile_row<kWave>(sum[slot], add);
    }
#pragma unroll
    for (int d = 0; d < B::kHeadTiles; ++d) {
      TileSum<kWave> out = {};
#pragma unroll
      for (int p = 0; p < kKeyParts; ++p) {
        const int at = ((p * n_heads + head_index) * B::kRowTiles + r) * (B::kHeadTiles + 1) + d;
        TileSum<kWave> part = {};
        add_sum(b, b.sums, at, part);
#pragma unroll
        for (int e = 0; e < TileSum<kWave>::kValues; ++e)
          out.value[e] += part.value[e] * factor[p][tile_row_slot<kWave>(e)];
      }
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; ++e)
        out.value[e] *= sum[tile_row_slot<kWave>(e)];
      const Piece<kWave> operand{operand_of_sum<kWave, B::kType>(out)};
      std::uint16_t* const at = b.at(b.mixed, b.part.head(head_index) * B::kHeadTiles + d, r);
#pragma unroll
      for (int peer = 0; peer < kGroup; ++peer) {
        send_in_group(b.rooms, peer, at, __builtin_bit_cast(PieceBytes<kWave>, operand),
                      b.arrivals + kArrivalMixed);
      }
    }
  }
}

template <class B>
__device__ __forceinline__ void run_attend(const B& b, int layer) {
  const int n_heads = b.part.n_heads();
  const bool attends = b.part.wave < n_heads * kKeyParts;
  if (attends) {
    AttentionState<B> state[B::kRowTiles];
    // A division by their number, up to 4.
    const int key_part = b.part.wave *
                         (n_heads == 4   ? 8
                          : n_heads == 3 ? 11
                          : n_heads == 2 ? 16
                                         : 32) /
                         32;
    attend(b, layer, b.part.wave - key_part * n_heads, key_part, state);
    leave_state(b, b.part.wave, state);
  }
  __syncthreads();
  if (b.part.wave < n_heads) share_head(b, b.part.wave);
}

}  // namespace biogpu::gpu::nn
