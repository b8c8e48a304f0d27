#pragma once

// Attention with a term of the distance, of one tile of queries by one block: what
// relative_attention.hip launches.

#include "gpu/ops/attention/attention_parts.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {

struct RelativeAttentionArgs {
  Rows q, k;                            // [T, n_heads, d_k]
  Rows v;                               // [T, n_heads, d_v]
  std::int64_t q_head, k_head, v_head;  // elements between heads
  const float* content_bias;            // [n_heads, d_k]
  const float* position_bias;
  std::int64_t content_stride, position_stride;
  Rows relative;  // [n_heads * n_distances, d_k]; distance r in row r + n_distances / 2 of a head
  int n_distances;
  int n_heads, d_k, d_v;
  Rows out;  // [T, n_heads * d_v]
  const QueryTile* tiles;
  const std::int32_t* n_tiles;
};

// kHeadK, kHeadV: of keys, and of the columns of values that a block sums. Each is padded from the
// model's with zeros. kLarge: what a block reads of keys, values and distances serves twice the
// queries and comes while it computes, for more shared memory than 64 KB.
template <int kWave_, Number16 kType_, int kHeadK_, int kHeadV_, int kParts_, bool kLarge>
struct RelativeShape {
  static constexpr int kWave = kWave_;
  static constexpr Number16 kType = kType_;
  static constexpr int kParts = kParts_;
  static constexpr int kWaves = kLarge ? 8 : 4;
  static constexpr int kRows = 16 * kWaves;
  static constexpr int kThreads = kWave * kWaves;
  // Keys of a step; two parts need twice the shared memory.
  static constexpr int kKeys = kParts == 1 ? 32 : 16;
  static constexpr int kStages = kLarge ? 2 : 1;
  // Distances in shared memory: what a step's keys have to the block's queries, and the next step's
  // that are new. Used as a ring.
  static constexpr int kBand = kRows + kKeys * kStages;
  static constexpr int kHeadV = kHeadV_;

  // What functions of attention_parts.hpp take for one operand of the block.
  template <int kHead_, int kKeys_, int kLow>
  struct Operand {
    static constexpr int kWave = kWave_;
    static constexpr Number16 kType = kType_;
    static constexpr int kParts = kParts_;
    static constexpr int kRowTiles = 1;
    static constexpr int kThreads = RelativeShape::kThreads;
    static constexpr int kHead = kHead_;
    static constexpr int kKeys = kKeys_;
    static constexpr int kPitch = kHead + 8;
    static constexpr int kKeyElements = kLow * kPitch;  // between high and low parts
    static constexpr int kQueryElements = kRows * kPitch;
  };
  using Keys = Operand<kHeadK_, kKeys, kKeys>;
  using Band = Operand<kHeadK_, 16, kBand>;  // 16 distances at a time
  using Values = Operand<kHeadV_, kKeys, kKeys>;

  // Terms of a wave's 16 queries for the distances to a step's keys; the pitch spreads both the
  // writes by rows and the reads along diagonals over the banks.
  static constexpr int kTerms = kKeys + 16;
  static constexpr int kTermPitch = kTerms + 8;

  static constexpr int kStepElements = kParts * (Keys::kKeyElements + Values::kKeyElements);
  static constexpr int kBandElements = kParts * Band::kKeyElements;
  static constexpr int kTermElements = 2 * kWaves * 16 * kTermPitch;  // of 16 bits
  static constexpr int kLoopElements = kStages * kStepElements + kBandElements + kTermElements;
  // Queries with their two biases pass through the same room before.
  static constexpr int kQueryElements = 2 * kParts * Keys::kQueryElements;
  static constexpr int kSharedElements =
      kLoopElements > kQueryElements ? kLoopElements : kQueryElements;
  static constexpr std::size_t kSharedBytes = sizeof(std::uint16_t) * kSharedElements;
};

// What a block works on.
struct RelativePlace {
  QueryTile tile;
  int head;
  int first_column;  // of the values
};

// The tile's queries with a bias, to shared memory as 16-bit numbers or as two parts of them.
template <class Shape>
__device__ __forceinline__ void load_biased(const RelativeAttentionArgs& a, const RelativePlace& at,
                                            const float* bias, std::uint16_t* to) {
  using Keys = typename Shape::Keys;
  constexpr int kPieces = Keys::kHead / 8;
  for (int i = static_cast<int>(threadIdx.x); i < Shape::kRows * kPieces; i += Shape::kThreads) {
    const int r = i / kPieces, c = i % kPieces * 8, query = at.tile.first + r;
    Bytes16 high = {}, low = {};
    if (query < at.tile.length && c < a.d_k) {
      Float8 x =
          load_elements8(a.q, at.tile.begin + query, static_cast<int>(at.head * a.q_head) + c);
#pragma unroll
      for (int e = 0; e < 8; ++e) x.value[e] += bias[c + e];
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const SplitPair split = split_pair<Shape::kType>(x.value[2 * p], x.value[2 * p + 1]);
        high.word[p] = split.high;
        low.word[p] = split.low;
      }
    }
    *reinterpret_cast<Bytes16*>(to + r * Keys::kPitch + c) = high;
    if constexpr (Shape::kParts == 2)
      *reinterpret_cast<Bytes16*>(to + Keys::kQueryElements + r * Keys::kPitch + c) = low;
  }
}

// kKeys distances, chunk by chunk from the least one of the block's, to their place in the ring.
template <class Shape>
__device__ __forceinline__ void copy_distances(const RelativeAttentionArgs& a,
                                               const RelativePlace& at, int chunk,
                                               std::uint16_t* band) {
  using Band = typename Shape::Band;
  constexpr int kChunks = Shape::kBand / Shape::kKeys;
  const int least = chunk * Shape::kKeys - (at.tile.first + Shape::kRows - 1);
  copy_head<Band, Shape::kKeys, Band::kKeyElements>(
      a.relative, std::int64_t{at.head} * a.n_distances, least + a.n_distances / 2, a.n_distances,
      0, a.d_k, band + chunk % kChunks * Shape::kKeys * Band::kPitch);
}

// Keys, values and new distances of a step to shared memory.
template <class Shape>
__device__ __forceinline__ void copy_relative_step(const RelativeAttentionArgs& a,
                                                   const RelativePlace& at, int step,
                                                   std::uint16_t* steps, std::uint16_t* band) {
  const int first_key = step * Shape::kKeys;
  if (first_key < at.tile.length) {
    std::uint16_t* const to = steps + step % Shape::kStages * Shape::kStepElements;
    copy_head<typename Shape::Keys, Shape::kKeys>(a.k, at.tile.begin, first_key, at.tile.length,
                                                  at.head * a.k_head, a.d_k, to);
    copy_head<typename Shape::Values, Shape::kKeys>(
        a.v, at.tile.begin, first_key, at.tile.length, at.head * a.v_head + at.first_column,
        a.d_v - at.first_column, to + Shape::kParts * Shape::Keys::kKeyElements);
    copy_distances<Shape>(a, at, step + Shape::kRows / Shape::kKeys, band);
  }
  copy_async_commit();
}

// Adds the terms of distances: the product of the wave's queries with the band that they have to
// the step's keys, written by rows to the wave's own memory and read along the diagonals.
template <class Shape>
__device__ __forceinline__ void add_relative(
    const AttentionState<typename Shape::Keys> (&queries)[1], const std::uint16_t* band, int step,
    int wave_row, float* terms, Scores<typename Shape::Keys>& scores) {
  constexpr int kWave = Shape::kWave;
  // The band's least distance is that of the block's last query; a wave's begins with its own last.
  const int first = step * Shape::kKeys + Shape::kRows - 16 - wave_row;
#pragma unroll
  for (int t = 0; t < Shape::kTerms / 16; ++t) {
    Scores<typename Shape::Band> product[1];
    multiply_keys<typename Shape::Band>(
        queries, band + (first + 16 * t) % Shape::kBand * Shape::Band::kPitch, product);
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e)
      terms[tile_row<kWave>(e) * Shape::kTermPitch + 16 * t + tile_column<kWave>(e)] =
          product[0][0].value[e];
  }
  wave_sync<kWave>();
#pragma unroll
  for (int j = 0; j < Shape::kKeys / 16; ++j) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      const int query = tile_row<kWave>(e), key = 16 * j + tile_column<kWave>(e);
      scores[j].value[e] += terms[query * Shape::kTermPitch + key - query + 15];
    }
  }
  wave_sync<kWave>();  // read by all lanes before the next step's terms
}

template <class Shape>
__device__ __forceinline__ void relative_attention_tile(const RelativeAttentionArgs& a,
                                                        const RelativePlace& at,
                                                        std::uint16_t* shared) {
  using Keys = typename Shape::Keys;
  using Values = typename Shape::Values;
  constexpr int kQueries = Shape::kParts * Keys::kQueryElements;
  const int wave = static_cast<int>(threadIdx.x) / Shape::kWave, row = 16 * wave;
  load_biased<Shape>(a, at, a.content_bias + at.head * a.content_stride, shared);
  load_biased<Shape>(a, at, a.position_bias + at.head * a.position_stride, shared + kQueries);
  __syncthreads();
  AttentionState<Keys> content[1], position[1];
  load_queries<Keys>(shared, row, content[0]);
  load_queries<Keys>(shared + kQueries, row, position[0]);
  AttentionState<Values> state[1];
  begin_state<Values>(state[0]);
  __syncthreads();
  std::uint16_t* const band = shared + Shape::kStages * Shape::kStepElements;
  float* const terms =
      reinterpret_cast<float*>(band + Shape::kBandElements) + row * Shape::kTermPitch;
#pragma unroll
  for (int chunk = 0; chunk < Shape::kRows / Shape::kKeys; ++chunk)
    copy_distances<Shape>(a, at, chunk, band);
  if constexpr (Shape::kStages == 2) copy_relative_step<Shape>(a, at, 0, shared, band);
  for (int step = 0; step * Shape::kKeys < at.tile.length; ++step) {
    copy_relative_step<Shape>(a, at, step + Shape::kStages - 1, shared, band);
    copy_async_wait<Shape::kStages - 1>();
    __syncthreads();
    const std::uint16_t* const keys = shared + step % Shape::kStages * Shape::kStepElements;
    Scores<Keys> scores[1];
    multiply_keys<Keys>(content, keys, scores);
    add_relative<Shape>(position, band, step, row, terms, scores[0]);
    mask_scores<Keys>(at.tile, step * Shape::kKeys, scores[0]);
    weigh_scores<Values>(state[0], scores[0], kLog2E);
    multiply_values<Values>(state, keys + Shape::kParts * Keys::kKeyElements, scores);
    __syncthreads();  // read by all before the next step's copies
  }
  float sum[kTileRowSlots<Shape::kWave>], factor[kTileRowSlots<Shape::kWave>];
  invert_sums<Values>(state[0], sum, factor);
  store_heads<Values>(
      {a.out, std::int64_t{at.head} * a.d_v + at.first_column, a.d_v - at.first_column}, at.tile,
      row, state[0], factor);
}

}  // namespace biogpu::gpu::ops
