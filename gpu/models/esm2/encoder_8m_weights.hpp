#pragma once

// The weights of encoder_8m.hip on their way, and products with them.

#include "gpu/models/esm2/encoder_8m_block.hpp"

namespace biogpu::gpu::esm2 {

// The weights that a wave multiplies. Those of its next step lie in shared memory, in the wave's
// own place, to which the copy engine brings them as soon as the wave has read what lay there: no
// other wave has to be waited for. The last batch of `up` takes the projection's place. Fewer waves
// multiply more of `down`: its last batches lie in the places of waves that have none. These, and
// the projection's, arrive by themselves: at the far arrival.
template <class B>
struct WeightStream {
  static constexpr int kWave = B::kWave;
  static constexpr int kBatchBytes = kBatch * kTileBytes;
  static constexpr int kDownBatches = 2 * B::Known::template kBatches<EncoderStep::down>;
  using Batch = Piece<kWave>[kBatch];
  const B& b;
  const std::uint8_t* from;  // the wave's first layer
  std::uint8_t* places;
  Arrival* arrival;
  // Modulo 2 the number of the use that is waited for, of the arrival and, in bit 1, the far one.
  std::uint32_t odd = 0;

  __device__ __forceinline__ WeightStream(const B& block, std::uint8_t* of_block)
      : b(block),
        places(of_block),
        arrival(reinterpret_cast<Arrival*>(of_block + kWeightsBytes) + b.part.wave) {
    const int of_wave = b.part.rank * kEncoderWaves + b.part.wave;
    from = static_cast<const std::uint8_t*>(b.a.packed) +
           static_cast<std::int64_t>(of_wave) * b.part.shape.n_layers * b.part.batches_of_layer() *
               kBatchBytes;
  }

  template <EncoderStep kStep>
  __device__ __forceinline__ const std::uint8_t* source(int layer) const {
    return from + (layer * b.part.batches_of_layer() + b.part.batches_before(kStep)) * kBatchBytes;
  }
  __device__ __forceinline__ std::uint8_t* place(int i = 0) const {
    return places + (b.part.wave * kPlaced + i) * kBatchBytes;
  }
  // Of the batches of `down` from kPlaced on.
  __device__ __forceinline__ std::uint8_t* far_place() const {
    constexpr int kFar = kDownBatches - kPlaced;
    return places + (B::Known::kPairs * kPlaced + b.part.wave * kFar) * kBatchBytes;
  }
  __device__ __forceinline__ Arrival* far_arrival() const { return arrival + kEncoderWaves; }

  // Where batch i of the step lies, whose weights are at `source`.
  template <EncoderStep kStep>
  __device__ __forceinline__ const std::uint8_t* batch(const std::uint8_t* source, int i) const {
    constexpr bool kTurned = kStep == EncoderStep::up || kStep == EncoderStep::down;
    if constexpr (B::kGrouped && kTurned) {
      return i < kPlaced ? place((i + 1) % kPlaced) : far_place() + (i - kPlaced) * kBatchBytes;
    } else {
      return source + i * kBatchBytes;
    }
  }
  __device__ __forceinline__ bool multiplies(EncoderStep step) const {
    return b.role.multiplies(step);
  }
  __device__ __forceinline__ void copy(std::uint8_t* to, const std::uint8_t* batches, int n,
                                       Arrival* at) const {
    copy_bulk(to, batches, static_cast<std::uint32_t>(n * kBatchBytes), at);
  }
  __device__ __forceinline__ void bring(std::uint8_t* to, const std::uint8_t* batches, int n,
                                        Arrival* at) const {
    if (n == 0 || !one_lane<kWave>()) return;
    expect_arrival(at, static_cast<std::uint32_t>(n * kBatchBytes));
    copy(to, batches, n, at);
  }
  __device__ __forceinline__ void init() {
    if (one_lane<kWave>()) {
      init_arrival(arrival);
      init_arrival(far_arrival());
    }
  }
  __device__ __forceinline__ void bring_qkv(int layer) {
    constexpr EncoderStep kQkv = EncoderStep::qkv;
    if (B::kGrouped && layer < b.part.shape.n_layers && multiplies(kQkv))
      bring(place(), source<kQkv>(layer), 2 * B::Known::template kBatches<kQkv>, arrival);
  }

  __device__ __forceinline__ void load(Batch& batch, const std::uint8_t* at) const {
    at += b.lane * 2 * B::kLaneNumbers;
#pragma unroll
    for (int p = 0; p < kBatch; ++p)
      batch[p] = *reinterpret_cast<const Piece<kWave>*>(at + p * kTileBytes);
  }

  // Where the step's weights of the wave lie, once they have arrived; of `down` those in its own
  // place.
  template <EncoderStep kStep>
  __device__ __forceinline__ const std::uint8_t* await(int layer) {
    if (!B::kGrouped) return source<kStep>(layer);
    if (!multiplies(kStep)) return place();
    if (kStep == EncoderStep::projection) {
      await_far();
    } else {
      await_arrival(arrival, odd & 1u);
      odd ^= 1u;
    }
    return place();
  }
  __device__ __forceinline__ void await_far() {
    if (!B::kGrouped) return;
    await_arrival(far_arrival(), odd >> 1);
    odd ^= 2u;
  }
  // Each asks for what follows, behind the last load of all lanes from the same places.
  __device__ __forceinline__ void bring_projection(int layer) const {
    if (B::kGrouped && multiplies(EncoderStep::projection))
      bring(place(), source<EncoderStep::projection>(layer), 1, far_arrival());
  }
  // All of `up` but the last batch, whose place is the projection's.
  __device__ __forceinline__ void bring_up(int layer) const {
    if (!B::kGrouped || !multiplies(EncoderStep::up) || !one_lane<kWave>()) return;
    expect_arrival(arrival, kPlaced * kBatchBytes);
    copy(place(1), source<EncoderStep::up>(layer), kPlaced - 1, arrival);
  }
  __device__ __forceinline__ void bring_rest_of_up(int layer) const {
    if (!B::kGrouped || !multiplies(EncoderStep::up) || !one_lane<kWave>()) return;
    copy(place(), source<EncoderStep::up>(layer) + (kPlaced - 1) * kBatchBytes, 1, arrival);
  }
  // Brings what follows in the places of the pair of batches of `up` that the wave has loaded last.
  __device__ __forceinline__ void go_on_with_down(int layer, int pair) {
    if (!B::kGrouped || !multiplies(EncoderStep::down)) return;
    wave_sync<kWave>();
    if (!one_lane<kWave>()) return;
    const std::uint8_t* const batches = source<EncoderStep::down>(layer);
    if (pair == 0) {
      expect_arrival(arrival, kPlaced * kBatchBytes);
      copy(place(1), batches, 2, arrival);
    } else {
      copy(place(3), batches + 2 * kBatchBytes, 1, arrival);
      copy(place(0), batches + 3 * kBatchBytes, 1, arrival);
    }
  }
  // The rest of `down`, once no wave reads weights of `up`.
  __device__ __forceinline__ void bring_far(int layer) {
    if constexpr (B::kGrouped) {
      if (!multiplies(EncoderStep::down)) return;
      bring(far_place(), source<EncoderStep::down>(layer) + kPlaced * kBatchBytes,
            kDownBatches - kPlaced, far_arrival());
    }
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

// sum += a tile of x times a tile of weights. kTransposed: the columns of the result are x's rows.
template <class B, bool kTransposed>
__device__ __forceinline__ void multiply_piece(const TileOperand<B::kWave>& rows,
                                               const Piece<B::kWave>& weights,
                                               TileSum<B::kWave>& sum) {
  if constexpr (kTransposed) {
    multiply_tile<B::kWave, B::kType>(sum, weights.tile, other_side<B::kWave>(rows));
  } else {
    multiply_tile<B::kWave, B::kType>(sum, rows, weights.tile);
  }
}

// Batch `index` of a share: of those held, or the one just loaded. Where none is held, nothing is
// read: a compiler may take a comparison with 0 for an index below it.
template <int kHeld, class Batch>
__device__ __forceinline__ const Batch& held_or_loaded(const Batch* held, int index,
                                                       const Batch& loaded) {
  if constexpr (kHeld == 0)
    return loaded;
  else
    return index < kHeld ? held[index] : loaded;
}

// A share of the projection, of kCount batches of weights, or n_batches where that is 0. The first
// kHeld are in `held`, the others at `source`.
template <class B, int kCount, int kHeld>
__device__ __forceinline__ void multiply_share(const B& b, const WeightStream<B>& weights,
                                               const EncoderTurn& turn, std::uint16_t* x,
                                               const typename WeightStream<B>::Batch* held,
                                               const std::uint8_t* source,
                                               TileSum<B::kWave> (&sum)[B::kRowTiles]) {
  [[maybe_unused]] constexpr int kUnroll = kCount > 0 ? kCount : 1;
#pragma unroll kUnroll
  for (int i = 0; i < (kCount > 0 ? kCount : turn.n_batches); ++i) {
    typename WeightStream<B>::Batch right;
    if (i >= kHeld) weights.load(right, source + i * WeightStream<B>::kBatchBytes);
    // All loads of a batch before its products: each of both would wait for the other by turns.
    TileOperand<B::kWave> left[kBatch][B::kRowTiles];
    load_rows(b, x, turn.k_batch(i), left);
#pragma unroll
    for (int p = 0; p < kBatch; ++p) {
#pragma unroll
      for (int r = 0; r < B::kRowTiles; ++r)
        multiply_piece<B, false>(left[p][r], held_or_loaded<kHeld>(held, i, right)[p], sum[r]);
    }
  }
}

// Two shares over the same rows of x, kCount pairs of batches or turn.n_batches where that is 0: of
// each pair the first share's batch, then the second's. The first kHeld batches are in `held`.
// loaded(i) when pair i has been.
template <class B, EncoderStep kStep, bool kTransposed, int kCount, int kHeld, class Loaded>
__device__ __forceinline__ void multiply_pair(const B& b, const WeightStream<B>& weights,
                                              const EncoderTurn& turn, std::uint16_t* x,
                                              const typename WeightStream<B>::Batch* held,
                                              const std::uint8_t* source,
                                              TileSum<B::kWave> (&sum)[2][B::kRowTiles],
                                              Loaded&& loaded) {
  constexpr int kWave = B::kWave;
  [[maybe_unused]] constexpr int kUnroll = kCount > 0 ? kCount : 1;
#pragma unroll kUnroll
  for (int i = 0; i < (kCount > 0 ? kCount : turn.n_batches); ++i) {
    TileOperand<kWave> left[kBatch][B::kRowTiles];
    typename WeightStream<B>::Batch right[2];
#pragma unroll
    for (int n = 0; n < 2; ++n)
      if (2 * i + n >= kHeld)
        weights.load(right[n], weights.template batch<kStep>(source, 2 * i + n));
    load_rows(b, x, turn.k_batch(i), left);
#pragma unroll
    for (int p = 0; p < kBatch; ++p) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int r = 0; r < B::kRowTiles; ++r)
          multiply_piece<B, kTransposed>(
              left[p][r], held_or_loaded<kHeld>(held, 2 * i + n, right[n])[p], sum[n][r]);
      }
    }
    loaded(i);
  }
}

}  // namespace biogpu::gpu::esm2
