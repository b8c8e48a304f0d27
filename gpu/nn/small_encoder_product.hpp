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

// A wave's shares of a product. Where the shape is known, some of the weights are in registers
// before the wave waits for the others: shared memory, which limits the product, has the less to
// give behind.
template <class B, SmallStep kStep>
__device__ __forceinline__ void run_product(const B& b, WeightStream<B>& weights, int layer) {
  constexpr bool kIsQkv = kStep == SmallStep::qkv, kIsDown = kStep == SmallStep::down;
  constexpr bool kNormalises = kIsQkv || kStep == SmallStep::up;
  constexpr int kCount = B::Known::template kBatches<kStep>;
  // Nothing is left to do beside the wait in front of `down`.
  constexpr int kHeld = kIsDown ? 0 : kCount < kHeldBatches ? kCount : kHeldBatches;
  constexpr int kBytes = WeightStream<B>::kBatchBytes;
  typename WeightStream<B>::Batch held[kHeld > 0 ? kHeld : 1];
  std::uint16_t* const x = kNormalises ? b.y : b.mixed;
  TileSum<B::kWave> sum[B::kRowTiles];
  SmallTurn turn = b.part.turn(kStep, 0);
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
  ColumnVectors vectors;
  const std::uint8_t* source = weights.template await<kStep>(layer);
  if (turn.active) {
    if (!kIsDown) vectors = load_vectors(b, layer + 1, kStep, turn.unit);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) weights.load(held[i], weights.template batch<kStep>(source, i));
  }
  await_others<B, kStep>(b, layer);
  if (kCount == 0 && finds_norms) find_norms(b);

  const auto multiply = [&] {
    if (kIsQkv && turn.unit >= 2 * b.part.n_heads() * B::kHeadTiles) {
      multiply_share<B, kStep, true, kCount, kHeld>(b, weights, turn, x, held, source, sum);
    } else {
      multiply_share<B, kStep, false, kCount, kHeld>(b, weights, turn, x, held, source, sum);
    }
  };
  if constexpr (kIsDown && kCount > 0) {
    if (turn.active) {
      TileSum<B::kWave> sums[2][B::kRowTiles] = {};
      multiply_pair<B, kCount>(b, weights, x, source, sums);
      send_part(b, turn.unit, sums[0]);
      send_part(b, turn.unit + 1, sums[1]);
    }
    __syncthreads();
    weights.template go_on<kStep>(layer);
  } else if constexpr (kIsDown) {
    for (int i = 1; turn.active; ++i) {
      multiply();
      send_part(b, turn.unit, sum);
      source += turn.n_batches * kBytes;
      turn = b.part.turn(kStep, i);
    }
  } else if constexpr (kStep == SmallStep::projection) {
    if (turn.active) multiply();
    weights.template go_on<kStep>(layer);
    finish_projection(b, turn, vectors.bias, vectors.weight, sum);
  } else {
    if (turn.active) multiply();
    if (kIsQkv) weights.template go_on<kStep>(layer);
    const auto finish = [&](const QkvPlace& place, const Angles(&angles)[B::kRowTiles]) {
      if constexpr (kIsQkv) {
        finish_qkv(b, layer, place, vectors.bias, vectors.weight, angles, sum);
      } else {
        finish_up(b, turn.unit, vectors.bias, vectors.weight, sum);
      }
    };
    Angles angles[B::kRowTiles];
    const auto find_place = [&] {
      const QkvPlace place = qkv_place(b, turn.unit);
#pragma unroll
      for (int r = 0; r < B::kRowTiles; ++r)
        if (kIsQkv) angles[r] = *angles_at(b, r, place.head_tile);
      return place;
    };
    QkvPlace place = find_place();
    __syncthreads();  // the norms are there
    if (!kIsQkv) weights.template go_on<kStep>(layer);
    if (turn.active) finish(place, angles);
    if constexpr (kCount == 0) {
      for (int i = 1; turn.active; ++i) {
        source += turn.n_batches * kBytes;
        turn = b.part.turn(kStep, i);
        if (!turn.active) return;
        vectors = load_vectors(b, layer + 1, kStep, turn.unit);
        multiply();
        place = find_place();
        finish(place, angles);
      }
    }
  }
}

}  // namespace biogpu::gpu::nn
