#pragma once

// What both kernels that multiply rows of pairs (triangle_product_warpgroup.hip) are made of: their
// tiles, the order in which blocks take them, and the wave that copies. For Hopper alone.

#include <type_traits>

#include "gpu/ops/triangle/triangle_product_warpgroup.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/prim/tma_ring.hpp"
#include "gpu/prim/warpgroup.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

// What normalising waves find out of a row for those that multiply.
struct SideFacts {
  float mask;
};
struct UpdateFacts {
  float mean, factor;  // of the norm of sums
  int row;             // of the result; -1: none
};

// kSlices: channels / 64. kUpdates: the last kernel. kWidePairs: pairs in fp32.
template <Number16 kType_, int kSlices_, bool kUpdates_, bool kWidePairs_>
struct GatedTile {
  static constexpr Number16 kType = kType_;
  static constexpr int kSlices = kSlices_, kChannels = 64 * kSlices;
  static constexpr bool kUpdates = kUpdates_, kWidePairs = kWidePairs_;
  static constexpr int kCluster = 2;
  static constexpr int kRows = 128, kGroupRows = 64;
  // Warpgroups that copy and normalise. With two of them fewer registers are left for sums.
  static constexpr int kGroupsBefore = kUpdates && kSlices == 4 ? 2 : 1;
  static constexpr int kThreads = (kGroupsBefore + 2) * kWarpgroup;
  // Registers of a thread that copies or normalises, and of one that multiplies. All threads
  // together take no more than they have at first.
  static constexpr int kFewRegisters = kGroupsBefore == 1 ? 104 : 88;
  static constexpr int kManyRegisters = kGroupsBefore == 1 ? 200 : 168;
  static_assert(kGroupsBefore * kFewRegisters + 2 * kManyRegisters <=
                (kGroupsBefore + 2) * (65536 / kThreads / 8 * 8));
  static constexpr int kNormWaves = kGroupsBefore * 4 - 1;
  // The last two of these find what the norm of sums needs; where there are many, nothing else.
  static constexpr int kUnitWaves = kUpdates && kNormWaves > 4 ? kNormWaves - 2 : kNormWaves;
  static constexpr int kWaves = 2 * kWarpgroup / 32;    // that multiply
  static constexpr int kChunk = 64;                     // channels that are computed at a time
  static constexpr int kStageBytes = 2 * 128 * kChunk;  // 64 weights of each: product and gate
  static constexpr int kOperandBytes = 128 * kRows * kSlices;
  static constexpr int kTileBytes = (kUpdates ? 2 : 1) * kOperandBytes;
  static constexpr int kBuffers = kTileBytes > 65536 ? 1 : 2;
  static constexpr int kBoxBytes = 128 * kChunk;
  static constexpr int kBoxesBytes = kUpdates ? 0 : 4 * kBoxBytes;
  using Facts = std::conditional_t<kUpdates, UpdateFacts, SideFacts>;
  static constexpr int kFactBytes = kBuffers * kRows * static_cast<int>(sizeof(Facts));
  static constexpr int kVectorBytes = kUpdates ? 3 * 4 * kChannels : 0;
  static constexpr int kMostBytes = 232448;
  static constexpr int kFree =
      kMostBytes - 1024 - 256 - kBuffers * kTileBytes - kBoxesBytes - kFactBytes - kVectorBytes;
  static constexpr int kStages = kFree / kStageBytes < 6 ? kFree / kStageBytes : 6;
  static constexpr std::size_t kSharedBytes = 1024 + 256 + kBuffers * kTileBytes + kBoxesBytes +
                                              kFactBytes + kVectorBytes + kStages * kStageBytes;
  // Rows of pairs that a wave normalises at a time, 8 lanes each.
  static constexpr int kUnitGroups = 4 / kSlices > 0 ? 4 / kSlices : 1;
  static constexpr int kUnitRows = 4 * kUnitGroups;
  static constexpr int kGroupsOfPiece = 8 / kSlices;  // 8 channels each, finished during a slice
  static_assert(kStages >= 2 && (4 * kStages + 6) * sizeof(SharedBarrier) <= 256);
};

struct GatedMaps {
  TensorMap value, gate;
  TensorMap pairs;  // sides to be written, or sums to be read
};

template <class Tile>
struct GatedShared {
  std::uint8_t* base;
  // Normalised pairs: boxes of 128 rows and 64 channels.
  __device__ __forceinline__ std::uint8_t* rows(int buffer) const {
    return base + buffer * Tile::kTileBytes;
  }
  // Sums as they lie, boxes of 64 channels and 64 pairs: 2 for each slice.
  __device__ __forceinline__ std::uint8_t* sums(int buffer) const {
    return rows(buffer) + Tile::kOperandBytes;
  }
  __device__ __forceinline__ std::uint8_t* stage(int stage) const {
    return rows(Tile::kBuffers) + stage * Tile::kStageBytes;
  }
  __device__ __forceinline__ std::uint8_t* box(int group, int which) const {
    return stage(Tile::kStages) + (2 * group + which) * Tile::kBoxBytes;
  }
  // Numbers of an update's channels: sums of the value's weights, biases of value and gate.
  __device__ __forceinline__ float* vectors() const {
    return reinterpret_cast<float*>(stage(Tile::kStages) + Tile::kBoxesBytes);
  }
  __device__ __forceinline__ typename Tile::Facts* facts(int buffer) const {
    return reinterpret_cast<typename Tile::Facts*>(stage(Tile::kStages) + Tile::kBoxesBytes +
                                                   Tile::kVectorBytes) +
           buffer * Tile::kRows;
  }
  __device__ __forceinline__ SharedBarrier* full(int stage) const {
    return reinterpret_cast<SharedBarrier*>(this->stage(Tile::kStages) + Tile::kBoxesBytes +
                                            Tile::kVectorBytes + Tile::kFactBytes) +
           stage;
  }
  __device__ __forceinline__ SharedBarrier* empty(int stage) const {
    return full(Tile::kStages) + stage;
  }
  __device__ __forceinline__ SharedBarrier* rows_full(int buffer) const {
    return empty(Tile::kStages) + buffer;
  }
  __device__ __forceinline__ SharedBarrier* rows_empty(int buffer) const {
    return rows_full(Tile::kBuffers) + buffer;
  }
  __device__ __forceinline__ SharedBarrier* sums_full(int buffer) const {
    return rows_empty(Tile::kBuffers) + buffer;
  }
  __device__ __forceinline__ void init_barriers() const {
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), Tile::kWaves * Tile::kCluster);
    }
    for (int buffer = 0; buffer < Tile::kBuffers; ++buffer) {
      barrier_init(rows_full(buffer), Tile::kNormWaves);
      barrier_init(rows_empty(buffer), Tile::kWaves);
      barrier_init(sums_full(buffer), 1);
    }
    barrier_init_done();
  }
};

// Tiles of this block: those of a cluster lie one behind the other, and both of its blocks go
// through as many, also past the last row.
template <class Tile>
struct GatedOrder {
  int n_pairs, stride, first, n_steps;
  __device__ __forceinline__ GatedOrder(const GatedRowsArgs& a, int rank)
      : n_pairs(a.n * a.pitch),
        stride(static_cast<int>(gridDim.x)),
        first(static_cast<int>(blockIdx.x)) {
    const int n_items = ceil_div(ceil_div(n_pairs, Tile::kRows), Tile::kCluster);
    const int cluster = first / Tile::kCluster, n_clusters = stride / Tile::kCluster;
    n_steps = cluster < n_items ? ceil_div(n_items - cluster, n_clusters) : 0;
    first = cluster * Tile::kCluster + rank;
  }
  __device__ __forceinline__ int pair(int step) const {
    return (first + step * stride) * Tile::kRows;
  }
};

// The row of z and of the result that a pair has; -1 where it has none.
__device__ __forceinline__ int row_of_pair(const GatedRowsArgs& a, int pair) {
  if (a.n == a.pitch) return pair < a.n * a.n ? pair : -1;
  const int i = pair / a.pitch, k = pair - i * a.pitch;
  return i < a.n && k < a.n ? i * a.n + k : -1;
}

// One wave: weights of all chunks of all tiles, a half by each block of the cluster, and sums.
template <class Tile>
__device__ __forceinline__ void copy_gated_tiles(const GatedRowsArgs& a, const GatedMaps& maps,
                                                 const GatedOrder<Tile>& order,
                                                 const GatedShared<Tile>& shared, int rank) {
  constexpr int kAll = (1 << Tile::kCluster) - 1;
  constexpr int kPairBytes = Tile::kWidePairs ? 4 : 2;
  const TensorMap* const map = rank == 0 ? &maps.value : &maps.gate;
  PipelineState<Tile::kStages> turn;
  PipelineState<Tile::kBuffers> buffer;
  for (int step = 0; step < order.n_steps; ++step) {
    const int pair = order.pair(step);
    if (step + 1 < order.n_steps) {  // what the next tile reads
      const int begin = order.pair(step + 1);
      const int first = row_of_pair(a, begin);
      const int last = row_of_pair(a, begin + Tile::kRows - 1);
      if (first >= 0 && last >= 0 && one_lane()) {
        prefetch_bytes(
            static_cast<const char*>(a.z) + std::int64_t{first} * Tile::kChannels * kPairBytes,
            static_cast<std::uint32_t>((last - first + 1) * Tile::kChannels * kPairBytes));
      }
    }
    if constexpr (Tile::kUpdates) {
      barrier_wait(shared.rows_empty(buffer.stage), buffer.parity ^ 1);
      if (one_lane()) {
        SharedBarrier* const full = shared.sums_full(buffer.stage);
        barrier_expect(full, Tile::kOperandBytes);
        for (int box = 0; box < 2 * Tile::kSlices; ++box)
          copy_box(shared.sums(buffer.stage) + box * Tile::kBoxBytes, &maps.pairs, box / 2 * 64,
                   pair + box % 2 * 64, full);
      }
      buffer.advance();
    }
    for (int channel = 0; channel < a.n_out; channel += Tile::kChunk) {
      for (int s = 0; s < Tile::kSlices; ++s) {
        SharedBarrier* const full = shared.full(turn.stage);
        barrier_wait(shared.empty(turn.stage), turn.parity ^ 1);
        if (one_lane()) {
          barrier_expect(full, Tile::kStageBytes);
          copy_box_to(shared.stage(turn.stage) + rank * Tile::kBoxBytes, map, channel, 64 * s, full,
                      kAll);
        }
        turn.advance();
      }
    }
  }
}

}  // namespace biogpu::gpu::ops
