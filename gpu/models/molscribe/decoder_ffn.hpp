#pragma once

// The feed-forward part of a layer of decode_steps.hip, and the logits with the choice of a token.

#include "gpu/models/molscribe/decoder_attention.hpp"
#include "gpu/ops/gelu.hpp"

namespace biogpu::gpu::molscribe {

// kSlice columns of the map down: eight of its outputs in each eight lanes.
struct DownWeights {
  Float4 weight[8];

  template <class Block>
  __device__ __forceinline__ static int column(const Block& b, int i) {
    return (b.warp * 4 + b.lane / 8) * 8 + i;
  }
  template <class Block>
  __device__ __forceinline__ void load(const Block& b, const float* map, int slice) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      weight[i] = load_no_allocate(
          reinterpret_cast<const Float4*>(map + column(b, i) * 4 * kWidth + slice * kSlice) +
          b.lane % 8);
  }
  template <int kWave, class Block>
  __device__ __forceinline__ float multiply(const Block& b, const float* hidden) const {
    const Float4 x = read4(hidden, b.lane % 8);
    float value[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) value[i] = add_product(0, x, weight[i]);
    return sum_lanes<kWave, 4>(value, b.lane);
  }
};

// x += W_down gelu(W_up norm x)
template <int kWave, class Block>
__device__ __forceinline__ void feed_forward(const Block& b, int layer, int parity) {
  constexpr int kRows = Block::kRows, kOwn = kSlices / Block::kShare, kCount = kSlice / kWarps;
  const float* const w = b.a.layers + layer * b.a.layer_size;
  const int last_part = b.alone ? kParts : b.part + 1;
  const NormPart norm = load_norm(w + kLayout.ffn_norm, w + kLayout.ffn_norm + kWidth, b.lane);
  stage_memory(b, layer + 1 < b.a.n_layers ? layer + 1 : 0);
  RowWeights<kCount> up[kOwn];
  DownWeights down[kOwn];
  float bias = 0;
  const int mine = sum_of_lane<4, 8>(b.lane);
  const auto slice = [&](int part, int s) { return part * kSlices + b.share * kOwn + s; };
  const auto load = [&](int part) {
#pragma unroll
    for (int s = 0; s < kOwn; ++s)
      up[s].load(w + kLayout.up, w + kLayout.up + 4 * kWidth * kWidth, b.lane,
                 [&](int i) { return slice(part, s) * kSlice + b.warp * kCount + i; });
    if constexpr (kOwn == 1) down[0].load(b, w + kLayout.down, slice(part, 0));
    bias = slice(part, 0) == 0
               ? w[kLayout.down + 4 * kWidth * kWidth + b.warp * 32 + b.lane / 8 * 8 + mine]
               : 0.0f;
  };
  load(b.part);
  gather<kWave, Exchange::cross>(b, parity);
  clear_posted(b, Exchange::self, parity);
  const RowPart y = normalise_rows<kWave>(b, norm);
  for (int part = b.part;;) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const RowPart of_row = normed_row(b, r, y);
#pragma unroll
      for (int s = 0; s < kOwn; ++s)
        up[s].template multiply<kWave>(of_row, b.lane, [&](int i, float value) {
          b.room.hidden[r][s * kSlice + b.warp * kCount + i] = ops::gelu(value);
        });
    }
    if constexpr (kOwn > 1) {
#pragma unroll
      for (int s = 0; s < kOwn; ++s) down[s].load(b, w + kLayout.down, slice(part, s));
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float value[kOwn];
#pragma unroll
      for (int s = 0; s < kOwn; ++s)
        value[s] = down[s].template multiply<kWave>(b, b.room.hidden[r] + s * kSlice);
      value[0] += bias;
      float sum = value[0];
      if constexpr (kOwn == 2) sum = value[0] + value[1];
      if constexpr (kOwn == 4) sum = (value[0] + value[1]) + (value[2] + value[3]);
      b.post(b.place(Exchange::ffn, parity, part * Block::kShare + b.share, r) +
                 DownWeights::column(b, mine),
             sum);
    }
    if (++part >= last_part) return;
    __syncthreads();
    load(part);
  }
}

// What a warp knows of its row.
struct RowState {
  int token, length;
  bool active;
};

__device__ __forceinline__ bool is_allowed(const DecodeArgs& a, const RowState& row, int column) {
  if (row.length == 0) return column != a.stop;
  const bool is_y = row.token >= a.n_symbols + a.n_bins;
  if (row.token >= a.n_symbols && !is_y) return column >= a.n_symbols + a.n_bins;
  return !is_y || column < a.n_symbols;
}

// The greatest logit among the allowed ones, the first of equal ones, and what is behind it.
struct Choice {
  float best, second, most;  // most: of all logits
  int column;
};

template <int kWave>
__device__ __forceinline__ Choice choose(const DecodeArgs& a, const RowState& row,
                                         const float* logits, int lane) {
  Choice choice{-INFINITY, -INFINITY, -INFINITY, -1};
#pragma unroll
  for (int i = 0; i < kMaxTokens / 32; ++i) {
    const int c = lane + 32 * i;
    if (c >= a.n_tokens) continue;
    const float x = logits[c];
    choice.most = fmaxf(choice.most, x);
    if (!is_allowed(a, row, c)) continue;
    if (choice.column < 0 || x > choice.best) {
      choice.second = choice.best;
      choice.best = x;
      choice.column = c;
    } else {
      choice.second = fmaxf(choice.second, x);
    }
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const float best = wave_shuffle_xor<kWave>(choice.best, mask, 32),
                second = wave_shuffle_xor<kWave>(choice.second, mask, 32),
                most = wave_shuffle_xor<kWave>(choice.most, mask, 32);
    const int column = wave_shuffle_xor<kWave>(choice.column, mask, 32);
    const bool wins = column >= 0 && (choice.column < 0 || best > choice.best ||
                                      (best == choice.best && column < choice.column));
    const float loser = wins ? choice.best : best;
    choice.second = fmaxf(fmaxf(choice.second, second), loser);
    choice.most = fmaxf(choice.most, most);
    if (wins) {
      choice.best = best;
      choice.column = column;
    }
  }
  return choice;
}

// Logits of norm x, which every block gets in full, and each row's next token. Returns the state of
// this warp's row.
template <int kWave, class Block>
__device__ __forceinline__ RowState choose_tokens(const Block& b, int step, int parity,
                                                  RowState row) {
  constexpr int kRows = Block::kRows, kCount = 4 / Block::kShare;
  const DecodeArgs& a = b.a;
  const int last_part = b.alone ? kParts : b.part + 1;
  const NormPart norm = load_norm(a.last_weight, a.last_bias, b.lane);
  RowPart weight[kCount];
  float bias = 0;
  const int mine = sum_of_lane<16, kCount>(b.lane);
  const auto column = [&](int part, int i) {
    return ((part * Block::kShare + b.share) * kWarps + b.warp) * kCount + i;
  };
  const auto load = [&](int part) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      weight[i] = column(part, i) < a.n_tokens
                      ? load_weights(a.head + column(part, i) * kWidth, b.lane)
                      : RowPart{};
    if (mine < kCount)
      bias = column(part, mine) < a.n_tokens ? a.head_bias[column(part, mine)] : -INFINITY;
  };
  load(b.part);
  gather<kWave, Exchange::ffn>(b, parity);
  clear_posted(b, Exchange::cross, parity);
  const RowPart y = normalise_rows<kWave>(b, norm);
  for (int part = b.part;;) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const RowPart of_row = normed_row(b, r, y);
      float value[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) value[i] = product(weight[i], of_row);
      const float sum = sum_lanes<kWave, 16>(value, b.lane) + bias;
      if (mine < kCount) b.post(b.logits_place(step & 1, r) + column(part, mine), sum);
    }
    if (++part >= last_part) break;
    load(part);
  }
  const std::int64_t state = std::int64_t{b.row(b.warp % kRows)} * a.capacity + row.length;
  const bool writes = b.part == 0 && b.share == 0 && b.warp < kRows && row.active;
  if (writes) {
    auto* const to = reinterpret_cast<Float4*>(a.states + state * kWidth);
    to[b.lane] = y.half[0];
    to[kWidth / 8 + b.lane] = y.half[1];
  }

  const int thread = static_cast<int>(threadIdx.x), r = thread / (kMaxTokens / 4),
            quad = thread % (kMaxTokens / 4);
  const std::uint32_t* const from[1] = {b.logits_place(step & 1, r < kRows ? r : 0) + 4 * quad};
  std::uint32_t word[1][4];
  if (b.alone) __syncthreads();
  await_words<kWave>(from, b.alone, r < kRows, word);
  if (r < kRows) {
    Float4 logits;
#pragma unroll
    for (int i = 0; i < 4; ++i) logits.value[i] = __builtin_bit_cast(float, word[0][i]);
    reinterpret_cast<Float4*>(b.room.logits[r])[quad] = logits;
  }
  __syncthreads();
  clear_posted(b, Exchange::ffn, parity);

  const float* const logits = b.room.logits[b.warp % kRows];
  const Choice choice = choose<kWave>(a, row, logits, b.lane);
  const RowState next = row.active
                            ? RowState{choice.column, row.length + 1,
                                       row.length + 1 < a.capacity && choice.column != a.stop}
                            : row;
  if (b.warp < kRows && b.lane == 0) {
    b.room.token[b.warp] = next.token;
    b.room.active[b.warp] = next.active ? 1 : 0;
    // Where the next key goes; a row at its end has room for one that is not kept.
    b.room.length[b.warp] = next.length < a.capacity ? next.length : a.capacity - 1;
  }
  if (b.part != 0 || b.share != 0) return next;
  float sum = 0;
  for (int c = b.lane; c < a.n_tokens; c += 32) sum += expf(logits[c] - choice.most);
  sum = sum_of_all<kWave>(sum);
  if (writes && b.lane == 0) {
    const int at = b.row(b.warp);
    a.history[state] = choice.column;
    a.log_probabilities[state] = choice.best - choice.most - logf(sum);
    a.margins[state] = choice.best - choice.second;
    a.tokens[at] = next.token;
    a.lengths[at] = next.length;
    a.n_keys[at] = next.length + 1 < a.capacity ? next.length + 1 : a.capacity;
  }
  return next;
}

}  // namespace biogpu::gpu::molscribe
