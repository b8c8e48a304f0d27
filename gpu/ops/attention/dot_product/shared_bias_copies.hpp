#pragma once

// How a block of shared_bias_tile.hpp is shaped, and what one of its waves copies into its shared
// memory. For Hopper alone.

#include "gpu/ops/attention/dot_product/shared_bias_layout.hpp"
#include "gpu/prim/bulk_copy.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/prim/tma_ring.hpp"
#include "gpu/prim/warpgroup.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

struct SharedBiasMaps {
  TensorMap q, k, v, out;
};

struct SharedBiasArgs {
  int n_batches = 0, n_queries = 0, n_heads = 0;
  int heads_of_key = 1;  // heads of queries that share one of keys and values
  float scale = 1;       // times log2 e
  BiasLayout layout;
  const std::uint16_t* bias = nullptr;  // as `layout` says
  // Bits of masked keys [n_batches, n_steps] and what their scores become [n_batches].
  const std::uint64_t* masked = nullptr;
  const float* masked_score = nullptr;
  // redo[0]: whether any piece is to be computed again by another kernel; redo[1 + (b n_heads +
  // head) n_tiles + tile]: whether 64 queries are. Zeros before the launch.
  std::int32_t* redo = nullptr;
};

template <Number16 kType_, int kHead_, int kGroups_, int kStages_>
struct SharedBiasShape {
  static constexpr Number16 kType = kType_;
  static constexpr int kHead = kHead_;      // numbers of a head, filled up with zeros: 32 or 64
  static constexpr int kGroups = kGroups_;  // warpgroups that compute, and batch rows
  static constexpr int kStages = kStages_;
  static constexpr int kKeys = BiasLayout::kSide;
  static constexpr int kTiles = BiasLayout::kTiles;
  static constexpr int kQueries = kTiles * 64;  // of a warpgroup
  static constexpr int kThreads = (1 + kGroups) * kWarpgroup;
  static constexpr int kWaves = kGroups * kWarpgroup / 32;  // that read a stage
  static constexpr int kBoxBytes = 64 * 2 * kHead;
  static constexpr int kBiasBytes = kTiles * 2 * BiasLayout::kTile;
  static constexpr int kStageBytes = 2 * kGroups * kBoxBytes + kBiasBytes;
  static constexpr int kQueryBytes = kGroups * kTiles * kBoxBytes;
  static constexpr int kQueryBuffers = 2;  // for queries, and for the results that take their place
  static constexpr int kOnesBytes = 16 * 2 * kHead;
  // Columns of values and one column of ones, which sums weights.
  static constexpr int kColumns = kHead + 8;
  static constexpr int kSums = kColumns / 2;
  static constexpr std::size_t kSharedBytes = 1024 + kStages * kStageBytes +
                                              kQueryBuffers * kQueryBytes + kOnesBytes +
                                              2 * (kStages + kQueryBuffers) * sizeof(SharedBarrier);
  static constexpr int kRegisters = kGroups == 2 ? 240 : 160;
  // The range of fp16 does not hold weights of any size.
  static constexpr bool kReferenced = kType == Number16::fp16;
};

template <class S>
struct SharedBiasStorage {
  std::uint8_t* base;
  __device__ __forceinline__ std::uint8_t* keys(int stage, int group) const {
    return base + stage * S::kStageBytes + group * S::kBoxBytes;
  }
  __device__ __forceinline__ std::uint8_t* values(int stage, int group) const {
    return keys(stage, S::kGroups + group);
  }
  __device__ __forceinline__ std::uint8_t* bias(int stage) const {
    return keys(stage, 2 * S::kGroups);
  }
  __device__ __forceinline__ std::uint8_t* queries(int buffer, int group, int tile) const {
    return base + S::kStages * S::kStageBytes + buffer * S::kQueryBytes +
           (group * S::kTiles + tile) * S::kBoxBytes;
  }
  __device__ __forceinline__ std::uint8_t* ones() const { return queries(S::kQueryBuffers, 0, 0); }
  __device__ __forceinline__ SharedBarrier* full(int stage) const {
    return reinterpret_cast<SharedBarrier*>(ones() + S::kOnesBytes) + stage;
  }
  __device__ __forceinline__ SharedBarrier* empty(int stage) const {
    return full(S::kStages) + stage;
  }
  __device__ __forceinline__ SharedBarrier* queries_full(int buffer) const {
    return empty(S::kStages) + buffer;
  }
  __device__ __forceinline__ SharedBarrier* queries_empty(int buffer) const {
    return queries_full(S::kQueryBuffers) + buffer;
  }

  // All threads of the block; a barrier of the block follows.
  __device__ __forceinline__ void init() const {
    constexpr std::uint32_t kOne = S::kType == Number16::fp16 ? 0x3c003c00u : 0x3f803f80u;
    for (unsigned i = threadIdx.x; i < S::kOnesBytes / 4; i += blockDim.x)
      reinterpret_cast<std::uint32_t*>(ones())[i] = kOne;
    publish_shared();
    if (threadIdx.x != 0) return;
    for (int stage = 0; stage < S::kStages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), S::kWaves);
    }
    for (int buffer = 0; buffer < S::kQueryBuffers; ++buffer) {
      barrier_init(queries_full(buffer), 1);
      barrier_init(queries_empty(buffer), S::kGroups);
    }
    barrier_init_done();
  }
};

// What a block takes at a time: 128 queries of one head in as many batch rows as it has warpgroups.
// The queries of a head come first, then the heads, so that keys and values come from L2.
template <class S>
struct SharedBiasItem {
  int first_batch, head, pair;
  __device__ __forceinline__ SharedBiasItem(const SharedBiasArgs& a, int item) {
    const int of_head = item / a.layout.n_pairs;
    pair = item - of_head * a.layout.n_pairs;
    const int rows = of_head / a.n_heads;
    head = of_head - rows * a.n_heads;
    first_batch = rows * S::kGroups;
  }
  __host__ __device__ __forceinline__ static int count(const SharedBiasArgs& a) {
    return ceil_div(a.n_batches, S::kGroups) * a.n_heads * a.layout.n_pairs;
  }
};

// Copies all that the block's warpgroups read. Called by one wave.
template <class S>
__device__ __forceinline__ void copy_shared_bias_items(const SharedBiasArgs& a,
                                                       const SharedBiasMaps& maps,
                                                       const SharedBiasStorage<S>& shared) {
  PipelineState<S::kStages> turn;
  PipelineState<S::kQueryBuffers> buffer;
  const int n_items = SharedBiasItem<S>::count(a);
  for (int i = static_cast<int>(blockIdx.x); i < n_items; i += static_cast<int>(gridDim.x)) {
    const SharedBiasItem<S> item(a, i);
    SharedBarrier* const queries_full = shared.queries_full(buffer.stage);
    barrier_wait(shared.queries_empty(buffer.stage), buffer.parity ^ 1);
    if (one_lane()) {
      barrier_expect(queries_full, S::kQueryBytes);
      for (int group = 0; group < S::kGroups; ++group)
        for (int tile = 0; tile < S::kTiles; ++tile)
          copy_head_box(shared.queries(buffer.stage, group, tile), &maps.q,
                        item.pair * S::kQueries + tile * 64, item.head, item.first_batch + group,
                        queries_full);
    }
    buffer.advance();
    const int key_head = item.head / a.heads_of_key;
    for (int step = 0; step < a.layout.n_steps; ++step) {
      SharedBarrier* const full = shared.full(turn.stage);
      barrier_wait(shared.empty(turn.stage), turn.parity ^ 1);
      if (one_lane()) {
        barrier_expect(full, S::kStageBytes);
        for (int group = 0; group < S::kGroups; ++group) {
          const int batch = item.first_batch + group;
          copy_head_box(shared.keys(turn.stage, group), &maps.k, step * S::kKeys, key_head, batch,
                        full);
          copy_head_box(shared.values(turn.stage, group), &maps.v, step * S::kKeys, key_head, batch,
                        full);
        }
        copy_bulk(shared.bias(turn.stage), a.bias + a.layout.step_at(item.head, item.pair, step),
                  S::kBiasBytes, full);
      }
      turn.advance();
    }
  }
}

}  // namespace biogpu::gpu::ops
