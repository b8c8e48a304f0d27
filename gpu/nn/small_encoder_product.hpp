#pragma once

// The products of small_encoder.hip, from the wait in front to what their sums become.

#include "gpu/nn/small_encoder_steps.hpp"
#include "gpu/nn/small_encoder_weights.hpp"

namespace biogpu::gpu::nn {

// Numbers that go with the columns of a tile; see SmallPart::vector_of().
struct ColumnVectors {
  float bias = 0, weight = 0;  // of column lane % 16
};
template <class B>
__device__ __forceinline__ ColumnVectors load_vectors(const B& b, int layer, SmallStep step,
                                                      int unit) {
  const float* const vector = b.vector(layer, step, unit);
  return {vector[b.lane % 16], vector[16 + b.lane % 16]};
}

// Sums of `down` leave for the blocks that own their rows. Nothing is left to do beside the wait in
// front of it.
template <class B>
__device__ __forceinline__ void run_down(const B& b, WeightStream<B>& weights, int layer) {
  constexpr SmallStep kStep = SmallStep::down;
  constexpr int kCount = B::Known::template kBatches<kStep>;
  SmallTurn turn = b.part.turn(kStep, 0);
  const std::uint8_t* source = weights.template await<kStep>(layer);
  await_others<B, kStep>(b, layer);
  if constexpr (kCount > 0) {
    if (turn.active) {
      TileSum<B::kWave> sums[2][B::kRowTiles] = {};
      multiply_pair<B, kCount>(b, weights, b.mixed, source, sums);
      send_part(b, turn.unit, sums[0]);
      send_part(b, turn.unit + 1, sums[1]);
    }
    __syncthreads();
    weights.template go_on<kStep>(layer);
  } else {
    typename WeightStream<B>::Batch held[1];
    TileSum<B::kWave> sum[B::kRowTiles];
    for (int i = 1; turn.active; ++i) {
      multiply_share<B, kStep, false, 0, 0>(b, weights, turn, b.mixed, held, source, sum);
      send_part(b, turn.unit, sum);
      source += turn.n_batches * WeightStream<B>::kBatchBytes;
      turn = b.part.turn(kStep, i);
    }
  }
}

// What becomes of a share of the products qkv and up once the norms are there.
template <class B, SmallStep kStep>
class ShareEnd {
  static constexpr bool kIsQkv = kStep == SmallStep::qkv;

 public:
  __device__ __forceinline__ ShareEnd(const B& b, int unit) : place_(qkv_place(b, unit)) {
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r)
      if (kIsQkv) angles_[r] = *angles_at(b, r, place_.head_tile);
  }
  __device__ __forceinline__ void finish(const B& b, int layer, int unit,
                                         const ColumnVectors& vectors,
                                         TileSum<B::kWave> (&sum)[B::kRowTiles]) const {
    if constexpr (kIsQkv) {
      finish_qkv(b, layer, place_, vectors.bias, vectors.weight, angles_, sum);
    } else {
      finish_up(b, unit, vectors.bias, vectors.weight, sum);
    }
  }

 private:
  QkvPlace place_;
  Angles angles_[B::kRowTiles];
};

// A wave's shares of a product. Where the shape is known, some of the weights are in registers
// before the wave waits for the others: shared memory, which limits the product, has the less to
// give behind.
template <class B, SmallStep kStep>
__device__ __forceinline__ void run_product(const B& b, WeightStream<B>& weights, int layer) {
  constexpr bool kIsQkv = kStep == SmallStep::qkv, kNormalises = kStep != SmallStep::projection;
  constexpr int kCount = B::Known::template kBatches<kStep>;
  constexpr int kHeld = kCount < kHeldBatches ? kCount : kHeldBatches;
  // The last wave, which has the least to multiply. Where that is nothing, none of the others'
  // registers are kept beside its own.
  const bool finds_norms = kNormalises && b.part.wave == kSmallWaves - 1;
  if (kCount > 0 && finds_norms) {
    if (kIsQkv) weights.template go_on<kStep>(layer);
    await_others<B, kStep>(b, layer);
    find_norms(b);
    __syncthreads();
    if (!kIsQkv) weights.template go_on<kStep>(layer);
    return;
  }
  typename WeightStream<B>::Batch held[kHeld > 0 ? kHeld : 1];
  TileSum<B::kWave> sum[B::kRowTiles];
  SmallTurn turn = b.part.turn(kStep, 0);
  ColumnVectors vectors;
  const std::uint8_t* source = weights.template await<kStep>(layer);
  if (turn.active) {
    vectors = load_vectors(b, layer + 1, kStep, turn.unit);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) weights.load(held[i], weights.template batch<kStep>(source, i));
  }
  await_others<B, kStep>(b, layer);
  if (kCount == 0 && finds_norms) find_norms(b);

  const auto multiply = [&] {
    std::uint16_t* const x = kNormalises ? b.y : b.mixed;
    if (kIsQkv && turn.unit >= 2 * b.part.n_heads() * B::kHeadTiles) {
      multiply_share<B, kStep, true, kCount, kHeld>(b, weights, turn, x, held, source, sum);
    } else {
      multiply_share<B, kStep, false, kCount, kHeld>(b, weights, turn, x, held, source, sum);
    }
  };
  if (turn.active) multiply();
  if (kIsQkv || !kNormalises) weights.template go_on<kStep>(layer);
  if constexpr (!kNormalises) {
    finish_projection(b, turn, vectors.bias, vectors.weight, sum);
  } else {
    const ShareEnd<B, kStep> end(b, turn.unit);
    __syncthreads();  // the norms are there
    if (!kIsQkv) weights.template go_on<kStep>(layer);
    if (turn.active) end.finish(b, layer, turn.unit, vectors, sum);
    for (int i = 1; kCount == 0 && turn.active; ++i) {
      source += turn.n_batches * WeightStream<B>::kBatchBytes;
      turn = b.part.turn(kStep, i);
      if (!turn.active) return;
      vectors = load_vectors(b, layer + 1, kStep, turn.unit);
      multiply();
      ShareEnd<B, kStep>(b, turn.unit).finish(b, layer, turn.unit, vectors, sum);
    }
  }
}

}  // namespace biogpu::gpu::nn
