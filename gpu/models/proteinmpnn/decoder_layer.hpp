#pragma once

// One layer of the decoder on one residue of one sequence, by one block.

#include "gpu/models/proteinmpnn/decoder.hpp"
#include "gpu/models/proteinmpnn/message.hpp"

namespace biogpu::gpu::proteinmpnn {

struct alignas(16) DecoderRoom {
  SplitRows rows;
  ResidueRoom residue;
  float logits[32];
  std::int32_t neighbour[kMaxNeighbours];  // in the structure
  std::uint8_t before[kMaxNeighbours];     // in the order
  std::int32_t n;                          // neighbours
};

// Neighbours of residue i and which come before it. Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void load_neighbours(const Structures& s, const Sequences& q,
                                                const Sequence& sequence, int i,
                                                DecoderRoom& room) {
  const std::int64_t row = sequence.first_row + i;
  const int n = sequence.n < s.n_neighbours ? sequence.n : s.n_neighbours;
  const std::int32_t rank = q.rank[sequence.first_state + i];
  if (threadIdx.x == 0) room.n = n;
  for (int e = static_cast<int>(threadIdx.x); e < n; e += static_cast<int>(kThreads<kWave>)) {
    const int j = s.neighbours[row * kMaxNeighbours + e] - sequence.first_row;
    room.neighbour[e] = j;
    room.before[e] = q.rank[sequence.first_state + j] < rank ? 1 : 0;
  }
  __syncthreads();
}

// gelu of the first layer's sums as the left operand. A wave takes six edges, whose loads overlap.
template <int kWave>
__device__ __forceinline__ void load_messages(const Encoded& encoded, const Sequences& q,
                                              const Sequence& sequence, int layer, std::int64_t row,
                                              DecoderRoom& room) {
  constexpr int kEdges = kMaxNeighbours / kWaves, kColumns = HiddenRow<kWave>::kColumns;
  const int column = first_column<kWave>(), wave = static_cast<int>(threadIdx.x) / kWave;
  struct alignas(4 * kColumns) Numbers {
    float value[kColumns];
  };
  const float* const edges = encoded.decoder_edges[layer] + row * kMaxNeighbours * kHidden;
  Numbers x[kEdges], y[kEdges];
#pragma unroll
  for (int r = 0; r < kEdges; ++r) {
    const int edge = r * kWaves + wave;
    if (edge >= room.n) continue;
    const std::int64_t j = room.neighbour[edge];
    const float* const from = room.before[edge] != 0
                                  ? q.seen[layer] + (sequence.first_state + j) * kHidden
                                  : encoded.neighbour[layer] + (sequence.first_row + j) * kHidden;
    x[r] = *reinterpret_cast<const Numbers*>(edges + edge * kHidden + column);
    y[r] = *reinterpret_cast<const Numbers*>(from + column);
  }
  const int n_rows = (room.n + 15) / 16 * 16;
#pragma unroll
  for (int r = 0; r < kEdges; ++r) {
    const int edge = r * kWaves + wave;
    if (edge >= n_rows) continue;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float sum = x[r].value[c] + room.residue.receiver[column + c] + y[r].value[c];
      x[r].value[c] = edge < room.n ? ops::gelu(sum) : 0.0f;
    }
#pragma unroll
    for (int c = 0; c < kColumns; c += 2)
      store_split(room.rows, edge, column + c, x[r].value[c], x[r].value[c + 1]);
  }
}

// room.residue.h and .receiver in, the new h out. Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void decoder_layer(const DecoderLayer& weights, const Encoded& encoded,
                                              const Sequences& q, const Sequence& sequence,
                                              int layer, int i, DecoderRoom& room) {
  Pieces<kWave> pieces = begin_product<kWave>(weights.middle);
  load_messages<kWave>(encoded, q, sequence, layer, sequence.first_row + i, room);
  __syncthreads();
  const int n_row_tiles = (room.n + 15) / 16;
  Tiles<kWave> x = multiply_whole<kWave>(room.rows, n_row_tiles, pieces);
  add_bias_gelu<kWave>(x, n_row_tiles, weights.middle.bias);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int, float& first, float& second) {
    if (edge >= room.n) first = second = 0;
  });
  sum_rows<kWave>(x, room.residue.sum);
  update_residue<kWave>(weights.update, static_cast<float>(room.n), room.residue);
}

// room.logits[kLetters] from room.residue.h, a wave each. Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void compute_logits(const DecoderWeights& weights, DecoderRoom& room) {
  for (int a = static_cast<int>(threadIdx.x) / kWave; a < kLetters; a += kWaves) {
    float sum = 0;
    for (int c = wave_lane<kWave>(); c < kHidden; c += kWave)
      sum += weights.logits[a * kHidden + c] * room.residue.h[c];
    sum = wave_sum<kWave>(sum);
    if (wave_lane<kWave>() == 0) room.logits[a] = sum + weights.logit_bias[a];
  }
  __syncthreads();
}

// By one wave: out[kLetters] = log-softmax of logits.
template <int kWave>
__device__ __forceinline__ void log_softmax(const float* logits, float* out) {
  const int a = wave_lane<kWave>();
  const bool is_letter = a < kLetters;
  const float mine = logits[is_letter ? a : 0];
  const float highest = wave_max<kWave>(mine);
  const double share = is_letter ? exp(static_cast<double>(mine - highest)) : 0.0;
  const auto log_sum = static_cast<float>(log(wave_sum<kWave>(share)));
  if (is_letter) out[a] = mine - highest - log_sum;
}

}  // namespace biogpu::gpu::proteinmpnn
