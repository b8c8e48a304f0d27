#pragma once

// What kernels of attention share: scores of a step of keys, softmax with running maxima, values
// mixed by its weights, for 16 queries a wave.

#include "gpu/ops/attention/attention_shape.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/prim/matrix_tile.hpp"

namespace biogpu::gpu::ops {

inline constexpr float kLog2E = 1.4426950408889634f;
inline constexpr float kMinusInfinity = -1e30f;  // finite: differences of two stay numbers

// What one wave knows of 16 queries.
template <class Shape>
struct AttentionState {
  static constexpr int kWave = Shape::kWave;
  TileOperand<kWave> query[Shape::kParts][Shape::kHead / 16];
  TileSum<kWave> out[Shape::kHead / 16] = {};
  float top[kTileRowSlots<kWave>];  // of the scores so far, times log2 e
  float sum[kTileRowSlots<kWave>];  // this lane's share
};

template <class Shape>
using Scores = TileSum<Shape::kWave>[Shape::kKeys / 16];

// Starts the state of queries that have seen no key.
template <class Shape>
__device__ __forceinline__ void begin_state(AttentionState<Shape>& state) {
#pragma unroll
  for (int slot = 0; slot < kTileRowSlots<Shape::kWave>; ++slot) {
    state.top[slot] = kMinusInfinity;
    state.sum[slot] = 0;
  }
}

// row: of the first of the 16 queries in the tile.
template <class Shape>
__device__ __forceinline__ void load_queries(const std::uint16_t* shared, int row,
                                             AttentionState<Shape>& state) {
#pragma unroll
  for (int part = 0; part < Shape::kParts; ++part) {
#pragma unroll
    for (int d = 0; d < Shape::kHead / 16; ++d) {
      state.query[part][d] = load_shared_a<Shape::kWave>(
          shared + part * Shape::kQueryElements + row * Shape::kPitch + 16 * d, Shape::kPitch);
    }
  }
  begin_state<Shape>(state);
}

// sum += part * scale, in registers and rounded, where the matrix cores would cut off.
template <int kWave>
__device__ __forceinline__ void add_part(TileSum<kWave>& sum, const TileSum<kWave>& part,
                                         float scale = 1) {
#pragma unroll
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) sum.value[e] += part.value[e] * scale;
}

// Four additions of the matrix cores to one sum at most, as in products in parts (gemm_tile.hpp).
inline constexpr int kPartTiles = 4;

// scores = q k^T of 16 queries and 16 keys, of sums of two numbers.
template <class Shape, class State>
__device__ __forceinline__ void multiply_split_keys(const State& state, const std::uint16_t* keys,
                                                    TileSum<Shape::kWave>& scores) {
  constexpr int kWave = Shape::kWave, kTiles = Shape::kHead / 16;
  scores = {};
  TileSum<kWave> part = {}, low_part = {};
#pragma unroll
  for (int d = 0; d < kTiles; ++d) {
    const auto high = load_shared_b<kWave>(keys + 16 * d, Shape::kPitch);
    const auto low = load_shared_b<kWave>(keys + Shape::kKeyElements + 16 * d, Shape::kPitch);
    multiply_tile<kWave, Shape::kType>(part, state.query[0][d], high);
    multiply_tile<kWave, Shape::kType>(low_part, state.query[0][d], low);
    multiply_tile<kWave, Shape::kType>(low_part, state.query[1][d], high);
    if ((d + 1) % kPartTiles == 0 || d + 1 == kTiles) {
      add_part<kWave>(scores, part);
      part = {};
    }
  }
  add_part<kWave>(scores, low_part, 1 / kLowScale);
}

// scores[i][j] = q k^T of 16 queries and 16 keys of a step.
template <class Shape, class State>
__device__ __forceinline__ void multiply_keys(const State (&state)[Shape::kRowTiles],
                                              const std::uint16_t* keys,
                                              Scores<Shape> (&scores)[Shape::kRowTiles]) {
  constexpr int kWave = Shape::kWave;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
    const std::uint16_t* const row = keys + 16 * j * Shape::kPitch;
    if constexpr (Shape::kParts == 2) {
#pragma unroll
      for (int i = 0; i < Shape::kRowTiles; ++i)
        multiply_split_keys<Shape>(state[i], row, scores[i][j]);
    } else {
#pragma unroll
      for (int i = 0; i < Shape::kRowTiles; ++i) scores[i][j] = {};
#pragma unroll
      for (int d = 0; d < Shape::kHead / 16; ++d) {
        const auto key = load_shared_b<kWave>(row + 16 * d, Shape::kPitch);
#pragma unroll
        for (int i = 0; i < Shape::kRowTiles; ++i) {
          multiply_tile<kWave, Shape::kType>(scores[i][j], state[i].query[0][d], key);
        }
      }
    }
  }
}

// Keys beyond the sequence gone; one test a step, for most steps have none.
template <class Shape>
__device__ __forceinline__ void mask_scores(const QueryTile& tile, int first_key,
                                            Scores<Shape>& scores) {
  if (first_key + Shape::kKeys <= tile.length) return;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<Shape::kWave>::kValues; ++e) {
      if (first_key + 16 * j + tile_column<Shape::kWave>(e) >= tile.length)
        scores[j].value[e] = kMinusInfinity;
    }
  }
}

// Softmax over what has been seen: raises the maxima, scales what was summed before, and turns the
// scores into weights. scale, above 0: what scores are multiplied with, in units of log2.
template <class Shape>
__device__ __forceinline__ void weigh_scores(AttentionState<Shape>& state, Scores<Shape>& scores,
                                             float scale) {
  constexpr int kWave = Shape::kWave;
  constexpr int kSlots = kTileRowSlots<kWave>;
  float top[kSlots], factor[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) top[slot] = kMinusInfinity;
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      top[tile_row_slot<kWave>(e)] = fmaxf(top[tile_row_slot<kWave>(e)], scores[j].value[e]);
    }
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    top[slot] = reduce_tile_row<kWave>(top[slot], [](float x, float y) { return fmaxf(x, y); });
    top[slot] = fmaxf(state.top[slot], top[slot] * scale);
    factor[slot] = fast_exp2(state.top[slot] - top[slot]);
    state.top[slot] = top[slot];
    state.sum[slot] *= factor[slot];
  }
#pragma unroll
  for (int d = 0; d < Shape::kHead / 16; ++d) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      state.out[d].value[e] *= factor[tile_row_slot<kWave>(e)];
    }
  }
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      scores[j].value[e] = fast_exp2(scores[j].value[e] * scale - top[tile_row_slot<kWave>(e)]);
      state.sum[tile_row_slot<kWave>(e)] += scores[j].value[e];
    }
  }
}

// Weights, between 0 and 1, as operands: sums of two 16-bit numbers, or one of them.
template <class Shape>
struct WeightOperand {
  TileOperand<Shape::kWave> part[Shape::kParts];
};

template <class Shape>
__device__ __forceinline__ WeightOperand<Shape> operand_of_weights(
    const TileSum<Shape::kWave>& weights) {
  WeightOperand<Shape> operand;
  if constexpr (Shape::kParts == 1) {
    operand.part[0] = operand_of_sum<Shape::kWave, Shape::kType, false>(weights);
  } else {
#pragma unroll
    for (int w = 0; w < TileOperand<Shape::kWave>::kWords; ++w) {
      const SplitPair split =
          split_pair<Shape::kType, false>(weights.value[2 * w], weights.value[2 * w + 1]);
      operand.part[0].word[w] = split.high;
      operand.part[1].word[w] = split.low;
    }
  }
  return operand;
}

// out += weights * values, of sums of two numbers: a step is summed by itself.
template <class Shape>
__device__ __forceinline__ void multiply_split_values(AttentionState<Shape>& state,
                                                      const std::uint16_t* values,
                                                      const Scores<Shape>& weights) {
  constexpr int kWave = Shape::kWave, kTiles = Shape::kKeys / 16;
  static_assert(kTiles <= kPartTiles);
  WeightOperand<Shape> operand[kTiles];
#pragma unroll
  for (int j = 0; j < kTiles; ++j) operand[j] = operand_of_weights<Shape>(weights[j]);
#pragma unroll
  for (int d = 0; d < Shape::kHead / 16; ++d) {
    TileSum<kWave> part = {}, low_part = {};
#pragma unroll
    for (int j = 0; j < kTiles; ++j) {
      const std::uint16_t* const at = values + 16 * j * Shape::kPitch + 16 * d;
      const auto high = load_shared_b_rows<kWave>(at, Shape::kPitch);
      const auto low = load_shared_b_rows<kWave>(at + Shape::kKeyElements, Shape::kPitch);
      multiply_tile<kWave, Shape::kType>(part, operand[j].part[0], high);
      multiply_tile<kWave, Shape::kType>(low_part, operand[j].part[0], low);
      multiply_tile<kWave, Shape::kType>(low_part, operand[j].part[1], high);
    }
    add_part<kWave>(part, low_part, 1 / kLowScale);
    add_part<kWave>(state.out[d], part);
  }
}

// out += weights * values.
template <class Shape>
__device__ __forceinline__ void multiply_values(AttentionState<Shape> (&state)[Shape::kRowTiles],
                                                const std::uint16_t* values,
                                                const Scores<Shape> (&weights)[Shape::kRowTiles]) {
  constexpr int kWave = Shape::kWave;
  if constexpr (Shape::kParts == 2) {
#pragma unroll
    for (int i = 0; i < Shape::kRowTiles; ++i)
      multiply_split_values<Shape>(state[i], values, weights[i]);
  } else {
#pragma unroll
    for (int j = 0; j < Shape::kKeys / 16; ++j) {
      WeightOperand<Shape> operand[Shape::kRowTiles];
#pragma unroll
      for (int i = 0; i < Shape::kRowTiles; ++i) {
        operand[i] = operand_of_weights<Shape>(weights[i][j]);
      }
#pragma unroll
      for (int d = 0; d < Shape::kHead / 16; ++d) {
        const auto value =
            load_shared_b_rows<kWave>(values + 16 * j * Shape::kPitch + 16 * d, Shape::kPitch);
#pragma unroll
        for (int i = 0; i < Shape::kRowTiles; ++i) {
          multiply_tile<kWave, Shape::kType>(state[i].out[d], operand[i].part[0], value);
        }
      }
    }
  }
}

// Columns of one head in the rows that results go to.
struct HeadColumns {
  Rows rows;
  std::int64_t first;
  int n;  // a multiple of 8
};

// out times factor, one for each of the lane's rows.
template <class Shape>
__device__ __forceinline__ void store_heads(const HeadColumns& out, const QueryTile& tile, int row,
                                            const AttentionState<Shape>& state,
                                            const float* factor) {
  constexpr int kWave = Shape::kWave;
#pragma unroll
  for (int d = 0; d < Shape::kHead / 16; ++d) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; e += 2) {
      const int query = tile.first + row + tile_row<kWave>(e);
      const int column = 16 * d + tile_column<kWave>(e);
      if (query >= tile.length || column >= out.n) continue;
      const float x = state.out[d].value[e] * factor[tile_row_slot<kWave>(e)];
      const float y = state.out[d].value[e + 1] * factor[tile_row_slot<kWave>(e)];
      const std::int64_t at = (tile.begin + query) * out.rows.stride + out.first + column;
      if constexpr (Shape::kParts == 2) {
        static_cast<float*>(out.rows.data)[at] = x;
        static_cast<float*>(out.rows.data)[at + 1] = y;
      } else {
        *reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(out.rows.data) + at) =
            number16_pair<Shape::kType>(x, y);
      }
    }
  }
}

// One over the sum of each row's weights.
template <class Shape>
__device__ __forceinline__ void invert_sums(const AttentionState<Shape>& state, float* sum,
                                            float* factor) {
#pragma unroll
  for (int slot = 0; slot < kTileRowSlots<Shape::kWave>; ++slot) {
    sum[slot] =
        reduce_tile_row<Shape::kWave>(state.sum[slot], [](float x, float y) { return x + y; });
    factor[slot] = 1.0f / sum[slot];
  }
}

}  // namespace biogpu::gpu::ops
