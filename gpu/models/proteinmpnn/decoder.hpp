#pragma once

// What the decode kernel reads, and one residue through the layers of the decoder by one block.

#include "gpu/models/proteinmpnn/edge_rows.hpp"
#include "gpu/prim/wave.hpp"
#include "lib/models/proteinmpnn/ops/decode.hpp"

namespace biogpu::gpu::proteinmpnn {

using edges::kMaxNeighbours;
using edges::kThreads;
using edges::kWaves;
using models::proteinmpnn::kHidden;
using models::proteinmpnn::kLayers;
using models::proteinmpnn::kNodeProj;
using models::proteinmpnn::kNoLetter;
using models::proteinmpnn::ProfileRow;
using models::proteinmpnn::RuleRows;
using models::proteinmpnn::Rules;
using models::proteinmpnn::Sequence;
using models::proteinmpnn::Unit;

inline constexpr int kLetters = static_cast<int>(models::proteinmpnn::kLetterCount);

struct LayerArgs {
  edges::Product middle;
  edges::Update update;
  edges::Columns node_proj;
  const float* letters = nullptr;  // [kLetters][2 kHidden]
};

struct DecodeArgs {
  const std::int32_t* rows = nullptr;  // [rows][n_slots]
  const std::int32_t* counts = nullptr;
  const std::uint8_t* present = nullptr;
  int n_slots = 0;  // K
  const float* h = nullptr;
  const float* edges = nullptr;
  float* node_proj = nullptr;
  std::int64_t n_rows = 0;
  LayerArgs layer[kLayers];
  const float* logits = nullptr;  // [kLetters][kHidden]
  const float* logit_bias = nullptr;
  const Sequence* sequences = nullptr;
  const std::int32_t* order = nullptr;
  const std::int32_t* rank = nullptr;
  const double* uniforms = nullptr;
  const Unit* units = nullptr;
  std::int32_t n_units = 0;
  RuleRows rules;
  std::uint32_t* next_unit = nullptr;  // 0
  std::uint32_t* done = nullptr;       // [states] 0
  std::int32_t* letters = nullptr;
  float* drawn = nullptr;
  float* log_probabilities = nullptr;
  float* probabilities = nullptr;  // 0

  // What a residue that is not decoded adds as sender in a layer, and one that is.
  __device__ const float* neighbour(int l, std::int64_t row) const {
    return node_proj + row * kNodeProj + l * 2 * kHidden + kHidden;
  }
  __device__ float* seen(int l, std::int64_t state) const {
    return node_proj + (n_rows + state) * kNodeProj + l * 2 * kHidden + kHidden;
  }
};

struct alignas(16) DecoderRoom {
  edges::SplitRows rows;
  edges::NodeRoom residue;
  float logits[32];
  std::int32_t neighbour[kMaxNeighbours];  // in the structure
  std::uint8_t before[kMaxNeighbours];     // in the order
  std::int32_t n;                          // neighbours
};

// Neighbours of residue i and which come before it. Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void load_neighbours(const DecodeArgs& a, const Sequence& sequence,
                                                int i, DecoderRoom& room) {
  const std::int64_t row = sequence.first_row + i;
  const int n = a.counts[row];
  const std::int32_t rank = a.rank[sequence.first_state + i];
  if (threadIdx.x == 0) room.n = n;
  for (int e = static_cast<int>(threadIdx.x); e < n; e += static_cast<int>(kThreads<kWave>)) {
    const int j = a.rows[row * a.n_slots + e] - sequence.first_row;
    room.neighbour[e] = j;
    room.before[e] = a.rank[sequence.first_state + j] < rank ? 1 : 0;
  }
  __syncthreads();
}

// room.residue.h and .receiver in, the new h out. Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void decoder_layer(const DecodeArgs& a, const Sequence& sequence,
                                              int layer, int i, DecoderRoom& room) {
  using edges::begin_product;
  using edges::gather_messages;
  using edges::load_messages;
  using edges::Pieces;
  const LayerArgs& weights = a.layer[layer];
  Pieces<kWave> pieces = begin_product<kWave>(weights.middle);
  const float* const edges =
      a.edges + (sequence.first_row + i) * std::int64_t{a.n_slots} * kLayers * kHidden +
      layer * kHidden;
  load_messages<kWave>(
      edges, kLayers * kHidden, room.n, room.residue.receiver,
      [&](int edge) -> const float* {
        const std::int64_t j = room.neighbour[edge];
        return room.before[edge] != 0 ? a.seen(layer, sequence.first_state + j)
                                      : a.neighbour(layer, sequence.first_row + j);
      },
      room.rows);
  __syncthreads();
  gather_messages<kWave>(
      room.rows, (room.n + 15) / 16, pieces, weights.middle.bias,
      [&](int edge) { return edge < room.n; }, room.n, weights.update, room.residue);
}

// room.logits[kLetters] from room.residue.h, a wave each. Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void compute_logits(const DecodeArgs& a, DecoderRoom& room) {
  for (int l = static_cast<int>(threadIdx.x) / kWave; l < kLetters; l += kWaves) {
    float sum = 0;
    for (int c = wave_lane<kWave>(); c < kHidden; c += kWave)
      sum += a.logits[l * kHidden + c] * room.residue.h[c];
    sum = wave_sum<kWave>(sum);
    if (wave_lane<kWave>() == 0) room.logits[l] = sum + a.logit_bias[l];
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
