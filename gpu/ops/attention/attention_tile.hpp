#pragma once

// Flash attention of one tile of queries by one block: what attention.hip launches.

#include <cmath>

#include "gpu/ops/attention/attention_parts.hpp"

namespace biogpu::gpu::ops {

// Adds the bias, divided by what scores will be multiplied with.
template <class Shape>
__device__ __forceinline__ void add_score_bias(const AttentionArgs& a, const QueryTile& tile,
                                               int head, int row, int first_key,
                                               Scores<Shape>& scores) {
  const float factor = 1.0f / a.scale;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e) {
      const int key = first_key + 16 * j + tile_column<Shape::kWave>(e);
      const int query = tile.first + row + tile_row<Shape::kWave>(e);
      if (query >= tile.length || key >= tile.length) continue;
      const std::int64_t at =
          tile.sequence * a.bias_stride[0] + head * a.bias_stride[1] + query * a.bias_stride[2];
      scores[j].value[e] += factor * load_element({a.bias.data, 1, a.bias.type}, at, key);
    }
  }
}

// The cap of scaled scores, divided by the scale: tanh(x) is 1 - 2 / (e^(2 x) + 1).
template <class Shape>
__device__ __forceinline__ void cap_scores(const AttentionArgs& a, Scores<Shape>& scores) {
  const float factor = 2 * kLog2E * a.scale / a.soft_cap, top = a.soft_cap / a.scale;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e) {
      const float power = fast_exp2(scores[j].value[e] * factor);
      scores[j].value[e] = top - 2 * top / (power + 1);
    }
  }
}

template <class Shape>
__device__ __forceinline__ void adjust_scores(const AttentionArgs& a, const QueryTile& tile,
                                              int head, int row, int first_key,
                                              Scores<Shape>& scores) {
  if (a.bias.data != nullptr) add_score_bias<Shape>(a, tile, head, row, first_key, scores);
  if (a.soft_cap > 0) cap_scores<Shape>(a, scores);
  mask_scores<Shape>(tile, first_key, scores);
}

template <class Shape>
__device__ __forceinline__ void store_attention(const AttentionArgs& a, const QueryTile& tile,
                                                int head, int row,
                                                const AttentionState<Shape>& state) {
  constexpr int kWave = Shape::kWave;
  float sum[kTileRowSlots<kWave>], factor[kTileRowSlots<kWave>];
  invert_sums<Shape>(state, sum, factor);
#pragma unroll
  for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
    const int query = tile.first + row + tile_row<kWave>(2 * slot);
    if (a.log_sum_exp != nullptr && tile_column<kWave>(0) == 0 && query < tile.length) {
      a.log_sum_exp[head * a.log_sum_exp_stride + tile.begin + query] =
          (state.top[slot] + log2f(sum[slot])) / kLog2E;
    }
  }
  store_heads<Shape>({a.out, std::int64_t{head} * a.head_v, a.head_v}, tile, row, state, factor);
}

template <class Shape>
__device__ __forceinline__ void attention_tile(const AttentionArgs& a, const QueryTile& tile,
                                               int head, std::uint16_t* shared) {
  AttentionState<Shape> state[Shape::kRowTiles];
  const int row = static_cast<int>(threadIdx.x) / Shape::kWave * 16 * Shape::kRowTiles;
  const int key_head = head / a.heads_of_key;
  copy_head<Shape, Shape::kRows>(a.q, tile.begin, tile.first, tile.length, head * a.head_stride,
                                 a.head, shared);
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i) load_queries<Shape>(shared, row + 16 * i, state[i]);
  __syncthreads();
  if constexpr (Shape::kStages == 2) copy_step<Shape>(a, tile, key_head, 0, shared);
  for (int key = 0; key < tile.length; key += Shape::kKeys) {
    if constexpr (Shape::kStages == 2) {
      copy_step<Shape>(a, tile, key_head, key + Shape::kKeys, shared);
      copy_async_wait<1>();
    } else {
      copy_step<Shape>(a, tile, key_head, key, shared);
      copy_async_wait<0>();
    }
    __syncthreads();
    const std::uint16_t* const step =
        shared + key / Shape::kKeys % Shape::kStages * Shape::kStepElements;
    Scores<Shape> scores[Shape::kRowTiles];
    multiply_keys<Shape>(state, step, scores);
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i) {
      adjust_scores<Shape>(a, tile, head, row + 16 * i, key, scores[i]);
      weigh_scores<Shape>(state[i], scores[i], a.scale * kLog2E);
    }
    multiply_values<Shape>(state, step + Shape::kParts * Shape::kKeyElements, scores);
    __syncthreads();  // read by all before the next step's copies
  }
#pragma unroll
  for (int i = 0; i < Shape::kRowTiles; ++i) {
    store_attention<Shape>(a, tile, head, row + 16 * i, state[i]);
  }
}

}  // namespace biogpu::gpu::ops
