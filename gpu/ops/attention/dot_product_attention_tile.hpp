#pragma once

// Attention of one piece of queries by one block: what dot_product_attention.hip launches.

#include <cmath>

#include "gpu/ops/attention/attention_parts.hpp"
#include "gpu/ops/attention/dot_product/dot_product_args.hpp"

namespace biogpu::gpu::ops {

// How a block is shaped: keys and values, each a shape of attention_shape.hpp, have heads of their
// own widths and all else alike.
template <class Keys_, class Values_ = Keys_>
struct DotShape {
  using Keys = Keys_;
  using Values = Values_;
  static_assert(Keys::kKeys == Values::kKeys && Keys::kRows == Values::kRows);
  static constexpr int kWave = Keys::kWave;
  static constexpr int kParts = Keys::kParts;
  static constexpr int kRowTiles = Keys::kRowTiles;
  static constexpr int kRows = Keys::kRows;
  static constexpr int kThreads = Keys::kThreads;
  static constexpr int kKeys = Keys::kKeys;
  static constexpr int kStages = Keys::kStages;
  static constexpr int kStepElements = kParts * (Keys::kKeyElements + Values::kKeyElements);
  // Queries pass through the room of the keys and values.
  static constexpr int kSharedElements = kStages * kStepElements > kParts* Keys::kQueryElements
                                             ? kStages* kStepElements
                                             : kParts* Keys::kQueryElements;
};

// Queries from `first` on of one head of one batch row.
struct DotProductItem {
  std::int64_t b;
  int head, first, n_keys;
};

// What counts as minus infinity gives the score of a key that is not there.
__host__ __device__ __forceinline__ float limited_bias(float x) {
  return x < -1e29f ? kMinusInfinity : x;
}

// One head of one batch row.
__device__ __forceinline__ Rows head_rows(const DotHeads& x, std::int64_t b, int head) {
  const std::int64_t bytes = (b * x.batch + head * x.head) * (x.rows.type == Element::f32 ? 4 : 2);
  return {static_cast<std::uint8_t*>(x.rows.data) + bytes, x.rows.stride, x.rows.type};
}

// The keys and values of one head.
struct DotStep {
  Rows k, v;
  int head, head_v, n_keys;
};

// Copies keys and values from first_key on into the shared memory of their stage.
template <class Shape>
__device__ __forceinline__ void copy_dot_step(const DotStep& step, int first_key,
                                              std::uint16_t* shared) {
  using Keys = typename Shape::Keys;
  using Values = typename Shape::Values;
  std::uint16_t* const to =
      shared + first_key / Shape::kKeys % Shape::kStages * Shape::kStepElements;
  if (first_key < step.n_keys) {
    copy_head<Keys, Shape::kKeys>(step.k, 0, first_key, step.n_keys, 0, step.head, to);
    copy_head<Values, Shape::kKeys>(step.v, 0, first_key, step.n_keys, 0, step.head_v,
                                    to + Shape::kParts * Keys::kKeyElements);
  }
  copy_async_commit();
}

struct alignas(8) FloatPair {
  float value[2];
};

// Numbers `at` and at + 1 of a bias, at even, as they are added to scores.
__device__ __forceinline__ void load_bias_pair(const Rows& bias, std::int64_t at, float (&x)[2]) {
  if (bias.type == Element::f32) {
    const auto pair =
        *reinterpret_cast<const FloatPair*>(static_cast<const float*>(bias.data) + at);
    x[0] = pair.value[0];
    x[1] = pair.value[1];
  } else {
    const std::uint32_t word =
        *reinterpret_cast<const std::uint32_t*>(static_cast<const std::uint16_t*>(bias.data) + at);
    unpack_elements<2>(bias.type, &word, x);
  }
  x[0] = kLog2E * limited_bias(x[0]);
  x[1] = kLog2E * limited_bias(x[1]);
}

// Where the numbers of a lane's queries begin. row: of the first of 16 queries.
template <int kWave>
struct BiasRows {
  std::int64_t at[kTileRowSlots<kWave>];

  __device__ __forceinline__ BiasRows(const DotProductArgs& a, int row) {
#pragma unroll
    for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
      const int wanted = row + tile_row<kWave>(2 * slot);
      const int query = wanted < a.n_queries ? wanted : a.n_queries - 1;
      at[slot] = (a.bias_block == 1 ? query : query / a.bias_block) * a.bias_stride[2];
    }
  }
};

// scores += the head's bias, which lies at `bias`; of any strides and blocks.
template <class Shape>
__device__ __forceinline__ void add_any_bias(const DotProductArgs& a, const Rows& bias, int n_keys,
                                             int row, int first_key, Scores<Shape>& scores) {
  constexpr int kWave = Shape::kWave;
  const BiasRows<kWave> rows(a, row);
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      const int key = first_key + 16 * j + tile_column<kWave>(e);
      if (key >= n_keys) continue;
      const std::int64_t at = rows.at[tile_row_slot<kWave>(e)] +
                              (a.bias_block == 1 ? key : key / a.bias_block) * a.bias_stride[3];
      scores[j].value[e] += kLog2E * limited_bias(load_element(bias, at, 0));
    }
  }
}

// The same for keys that lie one behind the other.
template <class Shape>
__device__ __forceinline__ void add_paired_bias(const DotProductArgs& a, const Rows& bias,
                                                int n_keys, int row, int first_key,
                                                Scores<Shape>& scores) {
  constexpr int kWave = Shape::kWave;
  const BiasRows<kWave> rows(a, row);
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; e += 2) {
      const int key = first_key + 16 * j + tile_column<kWave>(e);
      if (key >= n_keys) continue;
      float x[2];
      load_bias_pair(bias, rows.at[tile_row_slot<kWave>(e)] + key, x);
      scores[j].value[e] += x[0];
      scores[j].value[e + 1] += x[1];
    }
  }
}

// The same for blocks of whole tiles: one number for 16 queries and 16 keys.
template <class Shape>
__device__ __forceinline__ void add_tile_bias(const DotProductArgs& a, const Rows& bias, int n_keys,
                                              int row, int first_key, Scores<Shape>& scores) {
  if (row >= a.n_queries) return;
  const std::int64_t from = row / a.bias_block * a.bias_stride[2];
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
    const int key = first_key + 16 * j;
    if (key >= n_keys) continue;
    const float x =
        kLog2E * limited_bias(load_element(bias, from + key / a.bias_block * a.bias_stride[3], 0));
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e) scores[j].value[e] += x;
  }
}

template <class Shape>
__device__ __forceinline__ void add_dot_bias(const DotProductArgs& a, const Rows& bias, int n_keys,
                                             int row, int first_key, Scores<Shape>& scores) {
  if (a.bias_block % 16 == 0) {
    add_tile_bias<Shape>(a, bias, n_keys, row, first_key, scores);
  } else if (a.bias_pairs) {
    add_paired_bias<Shape>(a, bias, n_keys, row, first_key, scores);
  } else {
    add_any_bias<Shape>(a, bias, n_keys, row, first_key, scores);
  }
}

// tanh(x) is 1 - 2 / (e^(2 x) + 1).
template <class Shape>
__device__ __forceinline__ void cap_dot_scores(float cap, Scores<Shape>& scores) {
  const float factor = 2 * kLog2E / cap;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e)
      scores[j].value[e] =
          cap - 2 * cap * fast_reciprocal(fast_exp2(scores[j].value[e] * factor) + 1);
  }
}

// Bit i: key first_key + i is masked. The same in all lanes.
template <class Shape>
__device__ __forceinline__ std::uint64_t masked_keys(const DotProductArgs& a, std::int64_t b,
                                                     int n_keys, int first_key) {
  std::uint64_t bits = 0;
#pragma unroll
  for (int begin = 0; begin < Shape::kKeys; begin += Shape::kWave) {
    const int i = begin + wave_lane<Shape::kWave>();
    bool masked = false;
    if (i < Shape::kKeys && first_key + i < n_keys) {
      const std::int64_t at = b * a.mask_batch + (first_key + i) * a.mask_key;
      masked = a.mask_is_f32 ? static_cast<const float*>(a.key_mask)[at] == 0
                             : static_cast<const std::uint8_t*>(a.key_mask)[at] == 0;
    }
    bits |= wave_ballot<Shape::kWave>(masked) << begin;
  }
  return bits;
}

template <class Shape>
__device__ __forceinline__ void mask_dot_scores(std::uint64_t masked, float value,
                                                Scores<Shape>& scores) {
  if (masked == 0) return;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e) {
      const int i = 16 * j + tile_column<Shape::kWave>(e);
      if ((masked >> i & 1) != 0) scores[j].value[e] = value;
    }
  }
}

// Products of a step of keys into scores in units of log2.
template <class Shape>
__device__ __forceinline__ void adjust_dot_scores(const DotProductArgs& a, const DotProductItem& at,
                                                  const Rows& bias, int row, int first_key,
                                                  std::uint64_t masked, Scores<Shape>& scores) {
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e) scores[j].value[e] *= a.scale;
  }
  if (a.bias.data != nullptr) add_dot_bias<Shape>(a, bias, at.n_keys, row, first_key, scores);
  if (a.soft_cap > 0) cap_dot_scores<Shape>(a.soft_cap, scores);
  mask_dot_scores<Shape>(masked, a.masked, scores);
  mask_scores<Shape>({0, at.n_keys, 0, 0}, first_key, scores);
}

template <class Shape>
__device__ __forceinline__ void store_dot_product(const DotProductArgs& a, const DotProductItem& at,
                                                  const QueryTile& queries, int row,
                                                  const AttentionState<Shape>& state) {
  constexpr int kWave = Shape::kWave;
  float sum[kTileRowSlots<kWave>], factor[kTileRowSlots<kWave>];
  invert_sums<Shape>(state, sum, factor);
#pragma unroll
  for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
    const bool none = state.top[slot] <= kMinusInfinity;
    if (none) factor[slot] = 0;
    const int query = at.first + row + tile_row<kWave>(2 * slot);
    if (a.log_sum_exp != nullptr && tile_column<kWave>(0) == 0 && query < a.n_queries)
      a.log_sum_exp[at.b * a.sums_batch + at.head * a.sums_head + query] =
          none ? -INFINITY : (state.top[slot] + log2f(sum[slot])) / kLog2E;
  }
  store_heads<Shape>({head_rows(a.out, at.b, at.head), 0, a.head_v}, queries, row, state, factor);
}

template <class Shape>
__device__ __forceinline__ void dot_product_tile(const DotProductArgs& a, const DotProductItem& at,
                                                 std::uint16_t* shared) {
  using Keys = typename Shape::Keys;
  using Values = typename Shape::Values;
  constexpr int kRowTiles = Shape::kRowTiles;
  AttentionState<Keys> asked[kRowTiles];  // the queries
  AttentionState<Values> state[kRowTiles];
  const int row = static_cast<int>(threadIdx.x) / Shape::kWave * 16 * kRowTiles;
  const bool has_queries = at.first + row < a.n_queries;  // this wave
  const int key_head = at.head / a.heads_of_key;
  const QueryTile queries{0, a.n_queries, at.first, 0};
  const DotStep step{head_rows(a.k, at.b, key_head), head_rows(a.v, at.b, key_head), a.head,
                     a.head_v, at.n_keys};
  const DotHeads biases{a.bias, a.bias_stride[0], a.bias_stride[1]};
  const Rows bias = head_rows(biases, at.b % a.bias_batches, at.head);
  copy_head<Keys, Shape::kRows>(head_rows(a.q, at.b, at.head), 0, at.first, a.n_queries, 0, a.head,
                                shared);
  copy_async_commit();
  copy_async_wait<0>();
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) {
    load_queries<Keys>(shared, row + 16 * i, asked[i]);
    begin_state<Values>(state[i]);
  }
  __syncthreads();
  if constexpr (Shape::kStages == 2) copy_dot_step<Shape>(step, 0, shared);
  for (int key = 0; key < at.n_keys; key += Shape::kKeys) {
    if constexpr (Shape::kStages == 2) {
      copy_dot_step<Shape>(step, key + Shape::kKeys, shared);
      copy_async_wait<1>();
    } else {
      copy_dot_step<Shape>(step, key, shared);
      copy_async_wait<0>();
    }
    __syncthreads();
    if (has_queries) {
      const std::uint16_t* const here =
          shared + key / Shape::kKeys % Shape::kStages * Shape::kStepElements;
      const std::uint64_t masked =
          a.key_mask == nullptr ? 0 : masked_keys<Keys>(a, at.b, at.n_keys, key);
      Scores<Keys> scores[kRowTiles];
      multiply_keys<Keys>(asked, here, scores);
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        adjust_dot_scores<Keys>(a, at, bias, at.first + row + 16 * i, key, masked, scores[i]);
        weigh_scores<Values>(state[i], scores[i], 1.0f);
      }
      multiply_values<Values>(state, here + Shape::kParts * Keys::kKeyElements, scores);
    }
    __syncthreads();  // read by all before the next step's copies
  }
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i)
    store_dot_product<Values>(a, at, queries, row + 16 * i, state[i]);
}

}  // namespace biogpu::gpu::ops
