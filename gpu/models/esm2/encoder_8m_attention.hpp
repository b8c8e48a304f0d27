#pragma once

// Attention of encoder_8m.hip: keys and values of all groups of the sequence, and the heads that
// a block hands to its group.

#include <cmath>

#include "gpu/models/esm2/encoder_8m_block.hpp"

namespace biogpu::gpu::esm2 {

// Where a tile of keys (kind [0, kHeadTiles)) or values (above) lies in a layer's turn.
template <class B>
__device__ __forceinline__ int key_index(const B&, int head, int kind) {
  return (head * 2 * B::kHeadTiles + kind) * kMaxTiles;
}
// This lane's words of a tile; turn: of a layer, modulo kKeyTurns.
template <class B>
__device__ __forceinline__ std::uint32_t* key_tile(const B& b, int turn, int index) {
  const int n = layer_key_tiles(b.part.shape);
  return b.keys + (turn % kKeyTurns * n + index) * B::kTileWords + b.lane * B::kLaneWords;
}
template <class B>
__device__ __forceinline__ void clear_tile(const B&, std::uint32_t* at) {
  TileOperand<B::kWave> absent;
#pragma unroll
  for (std::uint32_t& word : absent.word) word = kAbsentWord;
  *reinterpret_cast<Piece<B::kWave>*>(at) = {absent};
}
// The block's tiles of its group of the layer before, which all groups have read: each that posted
// a tile of this layer has, and this block has read those. No fence stands between: that it is seen
// before the same place is read again has a layer's time, some ten microseconds.
template <class B>
__device__ __forceinline__ void clear_keys_before(const B& b, int layer) {
  const int n_kinds = 2 * B::kHeadTiles;
  for (int i = b.part.wave; i < b.role.n_heads * n_kinds * B::kRowTiles; i += kEncoderWaves) {
    const int r = i % B::kRowTiles, kind = i / B::kRowTiles % n_kinds,
              head = b.part.head(i / B::kRowTiles / n_kinds);
    clear_tile(b, key_tile(b, layer + kKeyTurns - 1,
                           key_index(b, head, kind) + b.first_tile + b.position / 16 + r));
  }
}
// A part of the launch's all tiles of the launch before.
template <class B>
__device__ __forceinline__ void clear_keys_of_launch(const B& b, std::uint32_t* keys) {
  const int n = key_tiles(b.part.shape), step = static_cast<int>(gridDim.x) * kEncoderWaves;
  for (int i = static_cast<int>(blockIdx.x) * kEncoderWaves + b.part.wave; i < n; i += step)
    clear_tile(b, keys + i * B::kTileWords + b.lane * B::kLaneWords);
}

// Reads a step's tiles, keys first, until all have arrived: those that have are not asked for
// again.
template <class B>
__device__ __forceinline__ void await_keys(
    const B& b, int layer, int head, int first, int n_tiles,
    TileOperand<B::kWave> (&keys)[kKeyTiles][2 * B::kHeadTiles]) {
  const std::uint32_t* at[2 * B::kHeadTiles];
#pragma unroll
  for (int d = 0; d < 2 * B::kHeadTiles; ++d)
    at[d] = key_tile(b, layer, key_index(b, head, d) + b.first_tile + first);
  bool missing[kKeyTiles];
#pragma unroll
  for (bool& tile : missing) tile = true;
  for (unsigned tries = 0;; bound_reads(tries)) {
#pragma unroll
    for (int j = 0; j < kKeyTiles; ++j) {
      if (!missing[j]) continue;
#pragma unroll
      for (int d = 0; d < 2 * B::kHeadTiles; ++d)
        read_words(at[d] + (first + j < n_tiles ? j : 0) * B::kTileWords, keys[j][d].word);
    }
    bool any = false;
#pragma unroll
    for (int j = 0; j < kKeyTiles; ++j) {
      if (!missing[j]) continue;
      bool there = true;
#pragma unroll
      for (int d = 0; d < 2 * B::kHeadTiles; ++d) there = there && are_there(keys[j][d].word);
      missing[j] = !wave_all<B::kWave>(there);
      any = any || missing[j];
    }
    if (!any) return;
  }
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
    await_keys(b, layer, head, first, n_tiles, keys);
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

// Where a head's wave leaves what it found, for all waves of the head: out, and behind it top and
// sum of each row.
template <class B>
__device__ __forceinline__ int state_place(const B& b, int key_part, int r) {
  return ((b.role.head * kKeyParts + key_part) * B::kRowTiles + r) * (B::kHeadTiles + 1);
}
template <class B>
__device__ __forceinline__ void leave_state(const B& b, AttentionState<B> (&state)[B::kRowTiles]) {
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    const int at = state_place(b, b.role.key_part, r);
#pragma unroll
    for (int d = 0; d < B::kHeadTiles; ++d) store_sum(b, b.sums, at + d, state[r].out[d]);
    Float4 rest = {};
#pragma unroll
    for (int slot = 0; slot < kTileRowSlots<B::kWave>; ++slot) {
      rest.value[2 * slot] = state[r].top[slot];
      rest.value[2 * slot + 1] = state[r].sum[slot];
    }
    *reinterpret_cast<Float4*>(sum_at(b, b.sums, at + B::kHeadTiles, 0)) = rest;
  }
}

// One word of each lane's operands of a head, of its parts together: each of the head's waves makes
// another one. Its two numbers lie in one row.
template <class B>
__device__ __forceinline__ void join_head(const B& b, int word) {
  constexpr int kWave = B::kWave;
  const auto add = [](float u, float v) { return u + v; };
  const int slot = kTileRowSlots<kWave> == 2 ? word % 2 : 0;  // tile_row_slot() of its numbers
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    FloatPair rest[kKeyParts];  // top, sum
    float top = kMinusInfinity, sum = 0;
#pragma unroll
    for (int p = 0; p < kKeyParts; ++p) {
      rest[p] = *reinterpret_cast<const FloatPair*>(
          sum_at(b, b.sums, state_place(b, p, r) + B::kHeadTiles, 0) + 2 * slot);
      top = fmaxf(top, rest[p].x);
    }
#pragma unroll
    for (int p = 0; p < kKeyParts; ++p) {
      rest[p].x = fast_exp2(rest[p].x - top);
      sum += rest[p].y * rest[p].x;
    }
    const float factor = fast_reciprocal(reduce_tile_row<kWave>(sum, add));
#pragma unroll
    for (int d = 0; d < B::kHeadTiles; ++d) {
      FloatPair out = {};
#pragma unroll
      for (int p = 0; p < kKeyParts; ++p) {
        const auto part = *reinterpret_cast<const FloatPair*>(
            sum_at(b, b.sums, state_place(b, p, r) + d, word / 2) + word % 2 * 2);
        out.x += part.x * rest[p].x;
        out.y += part.y * rest[p].x;
      }
      std::uint16_t* const at = b.at(b.mixed, b.part.head(b.role.head) * B::kHeadTiles + d, r);
      reinterpret_cast<std::uint32_t*>(at)[word] =
          number16_pair<B::kType>(out.x * factor, out.y * factor);
    }
  }
}

// A head to some of the other blocks of the group: each of the head's waves has others.
template <class B>
__device__ __forceinline__ void share_head(const B& b) {
#pragma unroll
  for (int d = 0; d < B::kHeadTiles; ++d) {
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r) {
      std::uint16_t* const at = b.at(b.mixed, b.part.head(b.role.head) * B::kHeadTiles + d, r);
      const auto operand = *reinterpret_cast<const PieceBytes<B::kWave>*>(at);
#pragma unroll
      for (int first = 1; first < kGroup; first += kKeyParts) {
        const int i = first + b.role.key_part;
        if (i < kGroup)
          send_in_group(b.rooms, b.rooms.peer(i, kGroup), at, operand, b.arrivals + kArrivalMixed);
      }
    }
  }
}

template <class B>
__device__ __forceinline__ void run_attend(const B& b, int layer) {
  const bool attends = b.role.attends();
  const int key_part = b.role.key_part;
  if (attends) {
    AttentionState<B> state[B::kRowTiles];
    attend(b, layer, b.role.head, key_part, state);
    leave_state(b, state);
  }
  __syncthreads();
  static_assert(TileOperand<B::kWave>::kWords <= kKeyParts);
  if (attends && key_part < TileOperand<B::kWave>::kWords) join_head(b, key_part);
  __syncthreads();
  if (attends) share_head(b);
}

}  // namespace biogpu::gpu::esm2
