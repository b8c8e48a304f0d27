#pragma once

// How a block of attention_warpgroup_tile.hpp is shaped, and what one of its waves copies into its
// shared memory. For Hopper alone.

#include "gpu/ops/attention/attention.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/tma_ring.hpp"
#include "gpu/prim/warpgroup.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

struct AttentionMaps {
  TensorMap q, k, v;
};

struct WarpgroupAttention {
  static constexpr int kHead = 64;
  static constexpr int kKeys = 64;  // a step
  static constexpr int kStages = 4;
  static constexpr int kThreads = 2 * kWarpgroup;
  static constexpr int kWaves = kThreads / 32;
  static constexpr int kCopyingWave = 4;  // the first of the second warpgroup
  static constexpr int kKeyBytes = 128 * kKeys;
  static constexpr int kStageBytes = 2 * kKeyBytes;
  static constexpr int kQueryBytes = 128 * kQueryRows;
  // Two rooms for queries: one fills while the other one is in use, and takes the results at the
  // end.
  static constexpr std::size_t kSharedBytes = 1024 + kStages * kStageBytes + 2 * kQueryBytes +
                                              3 * sizeof(QueryTile) + 2 * sizeof(std::int32_t) +
                                              (2 * kStages + 2) * sizeof(SharedBarrier);
  static constexpr float kLog2E = 1.4426950408889634f;
  static constexpr float kMinusInfinity = -1e30f;  // finite: differences of two stay numbers
  // Sums are scaled to a new maximum only where it is that much above the one in use: in fp32 and
  // in the 16 bits of a weight there is room for it. In units of log2.
  static constexpr float kTolerance = 8;
};

struct AttentionShared {
  using A = WarpgroupAttention;
  std::uint8_t* base;
  __device__ __forceinline__ std::uint8_t* keys(int stage) const {
    return base + stage * A::kStageBytes;
  }
  __device__ __forceinline__ std::uint8_t* values(int stage) const {
    return keys(stage) + A::kKeyBytes;
  }
  __device__ __forceinline__ std::uint8_t* queries(int room) const {
    return base + A::kStages * A::kStageBytes + room * A::kQueryBytes;
  }
  __device__ __forceinline__ SharedBarrier* full(int stage) const {
    return reinterpret_cast<SharedBarrier*>(queries(2)) + stage;
  }
  __device__ __forceinline__ SharedBarrier* empty(int stage) const {
    return full(A::kStages) + stage;
  }
  __device__ __forceinline__ SharedBarrier* room_empty(int room) const {
    return empty(A::kStages) + room;
  }
  // What the queries in a room are; the third: those that come next.
  __device__ __forceinline__ QueryTile* tile(int room) const {
    return reinterpret_cast<QueryTile*>(room_empty(2)) + room;
  }
  __device__ __forceinline__ std::int32_t* head(int room) const {
    return reinterpret_cast<std::int32_t*>(tile(3)) + room;
  }
};

__device__ __forceinline__ void init_barriers(const AttentionShared& shared) {
  using A = WarpgroupAttention;
  for (int stage = 0; stage < A::kStages; ++stage) {
    barrier_init(shared.full(stage), 1);
    barrier_init(shared.empty(stage), A::kWaves);
  }
  for (int room = 0; room < 2; ++room) barrier_init(shared.room_empty(room), A::kWaves);
  barrier_init_done();
}

// The step of keys and values that is in use or waited for.
using AttentionPipelineState = PipelineState<WarpgroupAttention::kStages>;

__device__ __forceinline__ int attention_steps(int length) {
  return ceil_div(length, WarpgroupAttention::kKeys);
}

// Which queries, keys and values come next, over all items of the block. Held by one wave, the same
// in all its lanes, so that it stays in registers that the wave has as a whole: where one thread
// knows it alone, the compiler moves each address there again, lane by lane, and a step's copies
// take longer than its products.
class AttentionCopies {
  using A = WarpgroupAttention;

 public:
  __device__ __forceinline__ explicit AttentionCopies(int n_items)
      : item_(static_cast<int>(blockIdx.x)), n_items_(n_items) {}
  __device__ __forceinline__ void begin(const AttentionArgs& a, const AttentionShared& shared) {
    fetch_tile(a, shared, item_);
  }
  // Copies up to what comes three steps after n_used, which takes the place of step n_used - 1:
  // the wave's own warpgroup has left that. At most one item is begun beyond the n_finished that
  // have left their rooms and the one in use.
  __device__ __forceinline__ void copy_ahead(const AttentionArgs& a, const AttentionMaps& maps,
                                             const AttentionShared& shared, int n_used,
                                             int n_finished) {
    while (item_ < n_items_ && n_copied_ < n_used + A::kStages &&
           (left_ > 0 || n_begun_ < n_finished + 2))
      copy_step(a, maps, shared);
  }

 private:
  __device__ __forceinline__ void copy_step(const AttentionArgs& a, const AttentionMaps& maps,
                                            const AttentionShared& shared) {
    SharedBarrier* const full = shared.full(turn_.stage);
    barrier_wait(shared.empty(turn_.stage), turn_.parity ^ 1);
    const bool begins = left_ == 0;
    if (begins) begin_item(a, maps, shared, full);
    if (one_lane()) {
      if (!begins) barrier_expect(full, A::kStageBytes);
      copy_box(shared.keys(turn_.stage), &maps.k, row_, column_, full);
      copy_box(shared.values(turn_.stage), &maps.v, row_, column_, full);
    }
    turn_.advance();
    ++n_copied_;
    row_ += A::kKeys;
    if (--left_ == 0) item_ += static_cast<int>(gridDim.x);
  }
  __device__ __forceinline__ void fetch_tile(const AttentionArgs& a, const AttentionShared& shared,
                                             int item) const {
    if (one_lane() && item < n_items_)
      copy_async16(shared.tile(2), a.tiles + item / a.n_heads, true);
    copy_async_commit();
  }
  // Queries come with the first keys, and what they are is written before: who sees the keys sees
  // it.
  __device__ __forceinline__ void begin_item(const AttentionArgs& a, const AttentionMaps& maps,
                                             const AttentionShared& shared, SharedBarrier* full) {
    const int room = n_begun_ % 2;
    barrier_wait(shared.room_empty(room), n_begun_ / 2 % 2 ^ 1);
    ++n_begun_;
    copy_async_wait<0>();
    wave_sync<32>();
    const QueryTile tile = *shared.tile(2);
    const int head = item_ % a.n_heads;
    // What comes out of a shuffle is known to be the same.
    const int first = wave_shuffle<32>(tile.first, 0);
    row_ = wave_shuffle<32>(tile.begin, 0);
    left_ = attention_steps(wave_shuffle<32>(tile.length, 0));
    column_ = head * static_cast<int>(a.head_stride);
    if (one_lane()) {
      *shared.tile(room) = tile;
      *shared.head(room) = head;
      barrier_expect(full, A::kStageBytes + A::kQueryBytes);
      copy_box(shared.queries(room), &maps.q, row_ + first, column_, full);
    }
    wave_sync<32>();  // all have read tile(2)
    fetch_tile(a, shared, item_ + static_cast<int>(gridDim.x));
  }

  int item_, n_items_;
  AttentionPipelineState turn_;
  int n_copied_ = 0, n_begun_ = 0;
  int row_ = 0, column_ = 0, left_ = 0;
};

}  // namespace biogpu::gpu::ops
