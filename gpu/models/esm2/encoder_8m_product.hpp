#pragma once

// The products of encoder_8m.hip, from the wait in front to what their sums become.

#include "gpu/models/esm2/encoder_8m_steps.hpp"
#include "gpu/models/esm2/encoder_8m_weights.hpp"

namespace biogpu::gpu::esm2 {

// Numbers that go with the columns of a tile; see EncoderPart::vector_of().
struct ColumnVectors {
  float bias = 0, weight = 0;  // of column lane % 16
};
template <class B>
__device__ __forceinline__ ColumnVectors load_vectors(const B& b, int layer, EncoderStep step,
                                                      int unit) {
  const float* const vector = b.vector(layer, step, unit);
  const int lane = not_held(b.lane);
  return {vector[lane % 16], vector[16 + lane % 16]};
}

// Adds the parts of `down` to the tile that the wave keeps. before_parts() when the tile and its
// vectors are on their way.
template <class B, class BeforeParts>
__device__ __forceinline__ void reduce_kept(const B& b, int layer, BeforeParts&& before_parts) {
  const int kept = b.part.kept_tile();
  const ColumnVectors vectors = load_vectors(b, layer + 1, EncoderStep::reduce, kept);
  const GrowingTile<B> tile = load_tile(b, kept, vectors.bias, vectors.weight);
  before_parts();
  await_others<B, EncoderStep::reduce>(b, layer);
  run_reduce(b, tile);
}

// Sums of `down` leave for the blocks that own their rows. In a group, waves that keep a tile, and
// have nothing to multiply, add the parts as soon as they are there.
template <class B>
__device__ __forceinline__ void run_down(const B& b, WeightStream<B>& weights, int layer) {
  constexpr EncoderStep kStep = EncoderStep::down;
  constexpr int kCount = B::Known::template kBatches<kStep>;
  const auto meet = [&] {
    __syncthreads();  // some of the weights were in other waves' places
    if (!weights.multiplies(kStep)) weights.bring_qkv(layer + 1);
  };
  if (B::kGrouped && b.part.keeps_tile()) {
    return reduce_kept(b, layer, [&] {
      await_others<B, kStep>(b, layer);  // meets the block, too
      meet();
    });
  }
  const std::uint8_t* source = weights.template await<kStep>(layer);
  await_others<B, kStep>(b, layer);
  for (int i = 0;; i += 2) {
    const EncoderTurn turn = b.part.turn(kStep, i);
    if (!turn.active) break;
    TileSum<B::kWave> sums[2][B::kRowTiles] = {};
    const auto loaded = [&](int pair) {
      if (pair != kPlaced / 2 - 1) return;
      weights.bring_qkv(layer + 1);
      weights.await_far();
    };
    multiply_pair<B, kStep, false, kCount, 0>(b, weights, turn, b.mixed, nullptr, source, sums,
                                              loaded);
    send_part(b, turn.unit, sums[0]);
    if (b.part.turn(kStep, i + 1).active) send_part(b, turn.unit + 1, sums[1]);
    if (kCount > 0) break;
    source += 2 * turn.n_batches * WeightStream<B>::kBatchBytes;
  }
  if (B::kGrouped) meet();
}

// What becomes of a share of the products qkv and up once the norms are there.
template <class B, EncoderStep kStep>
class ShareEnd {
  static constexpr bool kIsQkv = kStep == EncoderStep::qkv;

 public:
  __device__ __forceinline__ ShareEnd(const B& b, int unit, const ColumnVectors& vectors)
      : place_(qkv_place(b, unit)) {
    if (kIsQkv && place_.which == 2) {
      spread_rows<B::kWave>(vectors.bias, bias_.of_rows);
      spread_rows<B::kWave>(vectors.weight, weight_sum_.of_rows);
    } else {
      spread_columns<B::kWave>(vectors.bias, bias_.of_columns);
      spread_columns<B::kWave>(vectors.weight, weight_sum_.of_columns);
    }
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r)
      if (kIsQkv) angles_[r] = *angles_at(b, r, place_.head_tile);
  }
  __device__ __forceinline__ void finish(const B& b, int layer, int unit,
                                         TileSum<B::kWave> (&sum)[B::kRowTiles]) const {
    if constexpr (kIsQkv) {
      finish_qkv(b, layer, place_, bias_, weight_sum_, angles_, sum);
    } else {
      finish_up(b, unit, bias_, weight_sum_, sum);
    }
  }

 private:
  QkvPlace place_;
  SpreadVector<B::kWave> bias_, weight_sum_;
  Angles angles_[B::kRowTiles];
};

// Where sums over half of k lie for the waves that finish their tiles.
template <class B, EncoderStep kStep>
__device__ __forceinline__ float* halves_of(const B& b) {
  return kStep == EncoderStep::up ? b.halves : b.sums;
}
template <class B, EncoderStep kStep>
__device__ __forceinline__ void leave_half(const B& b, int unit,
                                           const TileSum<B::kWave> (&sum)[B::kRowTiles]) {
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r)
    store_sum(b, halves_of<B, kStep>(b), unit % kEncoderWaves * B::kRowTiles + r, sum[r]);
}

// The products qkv and up: two waves share a pair of tiles, each with half of k, and then finish
// one of them each. Where the shape is known, some of the weights are in registers before the wave
// waits for the others: shared memory, which limits the product, has the less to give behind.
template <class B, EncoderStep kStep>
__device__ __forceinline__ void run_pairs(const B& b, WeightStream<B>& weights, int layer) {
  constexpr bool kIsQkv = kStep == EncoderStep::qkv;
  constexpr int kCount = B::Known::template kBatches<kStep>;
  constexpr int kHeld = kCount > 0 ? kHeldBatches : 0;
  // The last wave, which has the least to multiply. Where that is nothing, none of the others'
  // registers are kept beside its own.
  const bool finds_norms = b.part.wave == kEncoderWaves - 1;
  if (kCount > 0 && finds_norms) {
    await_others<B, kStep>(b, layer);
    find_norms(b);
    __syncthreads();
    if (kIsQkv) weights.bring_projection(layer);
    return;
  }
  const int n_units = kIsQkv ? b.part.qkv_units() : b.part.hidden_tiles(), half = b.part.wave % 2;
  typename WeightStream<B>::Batch held[kHeld > 0 ? kHeld : 1];
  EncoderTurn turn = b.part.turn(kStep, 0);
  ColumnVectors vectors;
  const std::uint8_t* source = weights.template await<kStep>(layer);
  if (turn.unit + half < n_units) vectors = load_vectors(b, layer + 1, kStep, turn.unit + half);
  if (turn.active) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) weights.load(held[i], weights.template batch<kStep>(source, i));
  }
  await_others<B, kStep>(b, layer);
  if (finds_norms) find_norms(b);

  for (int first = 0; first < n_units; first += kEncoderWaves) {
    TileSum<B::kWave> sums[2][B::kRowTiles] = {};
    if (turn.active) {
      const auto loaded = [&](int pair) {
        if (!kIsQkv) weights.go_on_with_down(layer, pair);
      };
      if (kIsQkv && turn.unit >= 2 * b.role.n_heads * B::kHeadTiles) {
        multiply_pair<B, kStep, true, kCount, kHeld>(b, weights, turn, b.y, held, source, sums,
                                                     loaded);
      } else {
        multiply_pair<B, kStep, false, kCount, kHeld>(b, weights, turn, b.y, held, source, sums,
                                                      loaded);
      }
      if (half == 1) leave_half<B, kStep>(b, turn.unit, sums[0]);
      if (half == 0 && turn.unit + 1 < n_units) leave_half<B, kStep>(b, turn.unit + 1, sums[1]);
    }
    const int unit = turn.unit + half;
    const ShareEnd<B, kStep> end(b, unit, vectors);
    __syncthreads();  // the norms are there, and the other halves
    if (unit < n_units) {
#pragma unroll
      for (int r = 0; r < B::kRowTiles; ++r) {
        TileSum<B::kWave>& sum = sums[0][r];
        if (half == 1) sum = sums[1][r];
        add_sum(b, halves_of<B, kStep>(b), unit % kEncoderWaves * B::kRowTiles + r, sum);
      }
      end.finish(b, layer, unit, sums[0]);
    }
    if (kIsQkv) weights.bring_projection(layer);
    if (!kIsQkv) weights.bring_far(layer);
    if (kCount > 0) return;
    source += 2 * turn.n_batches * WeightStream<B>::kBatchBytes;
    turn = b.part.turn(kStep, first / kEncoderWaves * 2 + 2);
    if (turn.unit + half < n_units) vectors = load_vectors(b, layer + 1, kStep, turn.unit + half);
    __syncthreads();  // the halves have been read
  }
}

// The projection of the block's columns, parts of k in some waves each.
template <class B>
__device__ __forceinline__ void run_projection(const B& b, WeightStream<B>& weights, int layer) {
  constexpr EncoderStep kStep = EncoderStep::projection;
  constexpr int kCount = B::Known::template kBatches<kStep>;
  constexpr int kHeld = kCount < kHeldBatches ? kCount : kHeldBatches;
  typename WeightStream<B>::Batch held[kHeld > 0 ? kHeld : 1];
  TileSum<B::kWave> sum[B::kRowTiles] = {};
  const EncoderTurn turn = b.part.turn(kStep, 0);
  ColumnVectors vectors;
  const std::uint8_t* const source = weights.template await<kStep>(layer);
  if (turn.active) {
    vectors = load_vectors(b, layer + 1, kStep, turn.unit);
#pragma unroll
    for (int i = 0; i < kHeld; ++i) weights.load(held[i], weights.template batch<kStep>(source, i));
  }
  // Not earlier: they would be in the way of the keys that were waited for.
  weights.bring_up(layer);
  await_others<B, kStep>(b, layer);
  if (turn.active) multiply_share<B, kCount, kHeld>(b, weights, turn, b.mixed, held, source, sum);
  weights.bring_rest_of_up(layer);
  finish_projection(b, turn, vectors.bias, vectors.weight, sum);
  clear_keys_before(b, layer);  // here most waves have nothing else to do
}

}  // namespace biogpu::gpu::esm2
