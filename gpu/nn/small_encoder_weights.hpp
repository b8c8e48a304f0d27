#pragma once

// The weights of small_encoder.hip on their way, and products with them.

#include "gpu/nn/small_encoder_block.hpp"

namespace biogpu::gpu::nn {

// The weights that a wave multiplies. Those of its next step lie in shared memory, in the wave's
// own place, to which the copy engine brings them as soon as the wave has read what lay there: no
// other wave has to be waited for. The projection's come with all but the last batch of `up`, which
// takes their place. Fewer waves multiply more of `down`: their places lie across those of others.
template <class B>
struct WeightStream {
  static constexpr int kWave = B::kWave;
  static constexpr int kBatchBytes = kBatch * kTileBytes;
  using Batch = Piece<kWave>[kBatch];
  const B& b;
  const std::uint8_t* from;  // the wave's first layer
  std::uint8_t* places;
  Arrival* arrival;
  std::uint32_t odd = 0;

  __device__ __forceinline__ WeightStream(const B& block, std::uint8_t* of_block)
      : b(block),
        places(of_block),
        arrival(reinterpret_cast<Arrival*>(of_block + kWeightsBytes) + b.part.wave) {
    const int of_wave = b.part.rank * kSmallWaves + b.part.wave;
    from = static_cast<const std::uint8_t*>(b.a.packed) +
           static_cast<std::int64_t>(of_wave) * b.part.shape.n_layers * b.part.batches_of_layer() *
               kBatchBytes;
  }

  template <SmallStep kStep>
  __device__ __forceinline__ const std::uint8_t* source(int layer) const {
    return from + (layer * b.part.batches_of_layer() + b.part.batches_before(kStep)) * kBatchBytes;
  }
  // Where batch i of the step lies, whose weights are at `source`.
  template <SmallStep kStep>
  __device__ __forceinline__ const std::uint8_t* batch(const std::uint8_t* source, int i) const {
    if (B::kGrouped && kStep == SmallStep::up) i = (i + 1) % kPlaced;
    return source + i * kBatchBytes;
  }
  __device__ __forceinline__ bool multiplies(SmallStep step) const {
    return b.part.turn(step, 0).active;
  }
  __device__ __forceinline__ std::uint8_t* place(bool of_down = false) const {
    constexpr int kOfDown = 2 * B::Known::template kBatches<SmallStep::down>;
    return places + b.part.wave * (of_down ? kOfDown : kPlaced) * kBatchBytes;
  }
  __device__ __forceinline__ void bring(std::uint8_t* to, const std::uint8_t* batches, int n) {
    if (n > 0 && b.lane == 0)
      copy_bulk(to, batches, static_cast<std::uint32_t>(n * kBatchBytes), arrival);
  }
  __device__ __forceinline__ void start() {
    if (b.lane == 0) init_arrival(arrival);
    bring_qkv(0);
  }
  __device__ __forceinline__ void bring_qkv(int layer) {
    constexpr SmallStep kQkv = SmallStep::qkv;
    if (layer < b.part.shape.n_layers && multiplies(kQkv))
      bring(place(), source<kQkv>(layer), B::Known::template kBatches<kQkv>);
  }

  __device__ __forceinline__ void load(Batch& batch, const std::uint8_t* at) const {
    at += b.lane * 2 * B::kLaneNumbers;
#pragma unroll
    for (int p = 0; p < kBatch; ++p)
      batch[p] = *reinterpret_cast<const Piece<kWave>*>(at + p * kTileBytes);
  }

  // Where the step's weights of the wave lie, once they have arrived.
  template <SmallStep kStep>
  __device__ __forceinline__ const std::uint8_t* await(int layer) {
    if (!B::kGrouped) return source<kStep>(layer);
    if (multiplies(kStep) || (kStep == SmallStep::projection && multiplies(SmallStep::up))) {
      await_arrival(arrival, odd);
      odd ^= 1u;
    }
    return place(kStep == SmallStep::down);
  }
  // Brings what follows, behind the last load of the step's weights: in front of and behind `down`
  // those of all waves.
  template <SmallStep kStep>
  __device__ __forceinline__ void go_on(int layer) {
    if (!B::kGrouped) return;
    constexpr SmallStep kProjection = SmallStep::projection, kUp = SmallStep::up,
                        kDown = SmallStep::down;
    wave_sync<kWave>();  // all lanes have read
    if (kStep == SmallStep::qkv) {
      const int n = multiplies(kUp) ? kPlaced : multiplies(kProjection) ? 1 : 0;
      bring(place(), source<kProjection>(layer), n);
    }
    if (kStep == kProjection && multiplies(kUp))
      bring(place(), source<kUp>(layer) + (kPlaced - 1) * kBatchBytes, 1);
    if (kStep == kUp && multiplies(kDown))
      bring(place(true), source<kDown>(layer), 2 * B::Known::template kBatches<kDown>);
    if (kStep == kDown) bring_qkv(layer + 1);
  }
};

// A batch along k of the rows of x, tiles of operands.
template <class B>
__device__ __forceinline__ void load_rows(const B& b, std::uint16_t* x, int k_batch,
                                          TileOperand<B::kWave> (&rows)[kBatch][B::kRowTiles]) {
#pragma unroll
  for (int p = 0; p < kBatch; ++p) {
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r)
      rows[p][r] = load_piece<B::kWave>(b.at(x, k_batch * kBatch + p, r));
  }
}

// sum += rows of x times a batch of weights; x: tiles of operands. kTransposed: the columns of the
// result are x's rows.
template <class B, bool kTransposed>
__device__ __forceinline__ void multiply_batch(const B& b, std::uint16_t* x, int k_batch,
                                               const Piece<B::kWave> (&right)[kBatch],
                                               TileSum<B::kWave> (&sum)[B::kRowTiles]) {
  constexpr int kWave = B::kWave;
  // All loads of a batch before its products: each of both would wait for the other by turns.
  TileOperand<kWave> left[kBatch][B::kRowTiles];
  load_rows(b, x, k_batch, left);
#pragma unroll
  for (int p = 0; p < kBatch; ++p) {
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r) {
      if constexpr (kTransposed) {
        multiply_tile<kWave, B::kType>(sum[r], right[p].tile, other_side<kWave>(left[p][r]));
      } else {
        multiply_tile<kWave, B::kType>(sum[r], left[p][r], right[p].tile);
      }
    }
  }
}

// A share's product. Of its kCount batches of weights, or n_batches where that is 0, the first
// kHeld are in `held`, the others at `source`.
template <class B, SmallStep kStep, bool kTransposed, int kCount, int kHeld>
__device__ __forceinline__ void multiply_share(const B& b, const WeightStream<B>& weights,
                                               const SmallTurn& turn, std::uint16_t* x,
                                               const typename WeightStream<B>::Batch* held,
                                               const std::uint8_t* source,
                                               TileSum<B::kWave> (&sum)[B::kRowTiles]) {
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) sum[r] = {};
#pragma unroll
  for (int i = 0; i < kHeld; ++i)
    multiply_batch<B, kTransposed>(b, x, turn.k_batch(i), held[i], sum);
  [[maybe_unused]] constexpr int kUnroll = kCount > 0 ? kCount : 1;
#pragma unroll kUnroll
  for (int i = kHeld; i < (kCount > 0 ? kCount : turn.n_batches); ++i) {
    typename WeightStream<B>::Batch right;
    weights.load(right, weights.template batch<kStep>(source, i));
    multiply_batch<B, kTransposed>(b, x, turn.k_batch(i), right, sum);
  }
}

// Two shares over the same rows of x, kCount batches each, one behind the other at `source`.
template <class B, int kCount>
__device__ __forceinline__ void multiply_pair(const B& b, const WeightStream<B>& weights,
                                              std::uint16_t* x, const std::uint8_t* source,
                                              TileSum<B::kWave> (&sum)[2][B::kRowTiles]) {
  constexpr int kWave = B::kWave;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    TileOperand<kWave> left[kBatch][B::kRowTiles];
    typename WeightStream<B>::Batch right[2];
#pragma unroll
    for (int n = 0; n < 2; ++n)
      weights.load(right[n], source + (n * kCount + i) * WeightStream<B>::kBatchBytes);
    load_rows(b, x, i, left);
#pragma unroll
    for (int p = 0; p < kBatch; ++p) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int r = 0; r < B::kRowTiles; ++r)
          multiply_tile<kWave, B::kType>(sum[n][r], left[p][r], right[n][p].tile);
      }
    }
  }
}

}  // namespace biogpu::gpu::nn
