#pragma once

// The kernel of rows of pairs: one wave copies, others normalise, two warpgroups multiply.

#include <utility>

#include "gpu/ops/triangle/gated_rows_finish.hpp"
#include "gpu/ops/triangle/gated_rows_norm.hpp"
#include "gpu/prim/warpgroup_product.hpp"

namespace biogpu::gpu::ops {

// run(constant) for 0, 1, ... kCount - 1.
template <int... kIndex, class Run>
__device__ __forceinline__ void for_constants(std::integer_sequence<int, kIndex...>, Run&& run) {
  (run(std::integral_constant<int, kIndex>()), ...);
}
template <int kCount, class Run>
__device__ __forceinline__ void unroll(Run&& run) {
  for_constants(std::make_integer_sequence<int, kCount>(), run);
}

// A warpgroup that multiplies: 64 rows of each tile, in chunks of 64 channels. One chunk's sums are
// finished, a part during each slice, while the next one's products run.
template <class Tile>
struct GatedGroup {
  const GatedRowsArgs& a;
  const GatedMaps& maps;
  const GatedOrder<Tile>& order;
  const GatedShared<Tile>& shared;
  int group;
  PipelineState<Tile::kStages> turn = {};
  PipelineState<Tile::kBuffers> buffer = {};
  int step = 0, channel = 0;
  int n_boxes = 0;
  GatedPlace<Tile> place = {}, before = {};
  Residual<Tile> residual = {};  // of the first piece of the chunk before

  __device__ __forceinline__ void begin_tile() {
    barrier_wait(shared.rows_full(buffer.stage), buffer.parity);
    if constexpr (Tile::kUpdates) barrier_wait(shared.sums_full(buffer.stage), buffer.parity);
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    const int in_tile = Tile::kGroupRows * group + thread / 32 * 16 + thread % 32 / 4;
    place.pair = order.pair(step) + Tile::kGroupRows * group;
#pragma unroll
    for (int h = 0; h < 2; ++h) place.facts[h] = shared.facts(buffer.stage)[in_tile + 8 * h];
  }

  template <int kPiece>
  __device__ __forceinline__ void finish_piece(const Residual<Tile>& added, const GatedSums& d) {
    if constexpr (Tile::kUpdates) {
      finish_update<Tile, kPiece>(a, shared.vectors(), before, added, d);
    } else {
      std::uint8_t* const box = shared.box(group, n_boxes & 1);
      const bool stores = wave_of_block() % (kWarpgroup / 32) == 0;
      if constexpr (kPiece == 0) {
        if (stores && one_lane()) stores_read<1>();  // what was there has left
        named_barrier<kWarpgroup>(1 + group);
      }
      finish_sides<Tile, kPiece>(a, before, shared_address(box), d);
      if constexpr (kPiece + 1 == Tile::kSlices) {
        publish_shared();
        named_barrier<kWarpgroup>(1 + group);
        if (stores && one_lane()) {
          store_box(&maps.pairs, before.channel, before.pair, box);
          stores_commit();
        }
        ++n_boxes;
      }
    }
  }

  __device__ __forceinline__ void multiply_slice(int s, GatedSums& d) {
    const std::uint8_t* const stage = shared.stage(turn.stage);
    const std::uint64_t rows = operand_at(shared.rows(buffer.stage) + s * 128 * Tile::kRows +
                                          128 * Tile::kGroupRows * group);
    products_begin();
    if constexpr (Tile::kUpdates) {
      using Product = WarpgroupProduct<64, Tile::kType>;
      auto& value = reinterpret_cast<float(&)[32]>(d[0]);
      auto& gate = reinterpret_cast<float(&)[32]>(d[32]);
      const std::uint64_t sums =
          operand_at(shared.sums(buffer.stage) + (2 * s + group) * Tile::kBoxBytes);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        Product::template both<true, false>(value, operand_after(sums, 128 * 16 * k),
                                            operand_after(operand_at(stage), 32 * k),
                                            s > 0 || k > 0);
        Product::both(gate, operand_after(rows, 32 * k),
                      operand_after(operand_at(stage + Tile::kBoxBytes), 32 * k), s > 0 || k > 0);
      }
    } else {
      using Product = WarpgroupProduct<128, Tile::kType>;
#pragma unroll
      for (int k = 0; k < 4; ++k)
        Product::both(d, operand_after(rows, 32 * k), operand_after(operand_at(stage), 32 * k),
                      s > 0 || k > 0);
    }
    products_commit();
  }

  __device__ __forceinline__ void release(int stage) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < Tile::kCluster) barrier_arrive_at(shared.empty(stage), lane);
  }

  // The products of one chunk into d, while the sums of the one before are finished.
  template <bool kFinishes>
  __device__ __forceinline__ void compute_chunk(GatedSums& d, const GatedSums& of_before) {
    if (channel == 0) begin_tile();
    place.channel = channel;
    int last = 0;
    unroll<Tile::kSlices>([&](auto slice) {
      constexpr int kSlice = decltype(slice)::value;
      [[maybe_unused]] const Residual<Tile> added = residual;
      if constexpr (kFinishes && kSlice + 1 < Tile::kSlices)
        residual = load_residual<Tile, kSlice + 1>(a, before);
      barrier_wait(shared.full(turn.stage), turn.parity);
      multiply_slice(kSlice, d);
      if constexpr (kSlice > 0) {
        products_wait<1>();
        release(last);
      }
      last = turn.stage;
      turn.advance();
      if constexpr (kFinishes) finish_piece<kSlice>(added, of_before);
    });
    products_wait<0>();
    products_fence(d);
    release(last);
    before = place;
    residual = load_residual<Tile, 0>(a, before);
    channel += Tile::kChunk;
    if (channel < a.n_out) return;
    if (one_lane()) barrier_arrive(shared.rows_empty(buffer.stage));
    buffer.advance();
    channel = 0;
    ++step;
  }

  __device__ __forceinline__ void finish_last(const GatedSums& d) {
    unroll<Tile::kSlices>([&](auto slice) {
      constexpr int kSlice = decltype(slice)::value;
      [[maybe_unused]] const Residual<Tile> added = residual;
      if constexpr (kSlice + 1 < Tile::kSlices)
        residual = load_residual<Tile, kSlice + 1>(a, before);
      finish_piece<kSlice>(added, d);
    });
  }

  // Chunks until `end` tiles are done.
  __device__ __forceinline__ void run_until(int end) {
    GatedSums even, odd;
    compute_chunk<false>(even, odd);
    while (true) {
      if (step >= end) return finish_last(even);
      compute_chunk<true>(odd, even);
      if (step >= end) return finish_last(odd);
      compute_chunk<true>(even, odd);
    }
  }

  // With one buffer the next tile comes late: the last chunk is finished before.
  __device__ __forceinline__ void run() {
    if (order.n_steps == 0) return;
    if constexpr (Tile::kBuffers == 1) {
      while (step < order.n_steps) run_until(step + 1);
    } else {
      run_until(order.n_steps);
    }
  }
};

template <class Tile>
__global__ BIOGPU_CLUSTER_OF(Tile::kCluster) BIOGPU_LAUNCH_BOUNDS(Tile::kThreads, 1)  //
    void gated_rows_kernel(const GatedRowsArgs a, const BIOGPU_GRID_CONSTANT GatedMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const GatedShared<Tile> shared = {dynamic + (1024 - shared_address(dynamic) % 1024) % 1024};
  const int rank = block_of_cluster();
  const GatedOrder<Tile> order(a, rank);
  if (threadIdx.x == 0) shared.init_barriers();
  if constexpr (Tile::kUpdates) load_vectors<Tile>(a, shared.vectors());
  cluster_barrier();
  if (threadIdx.x < kWarpgroup * Tile::kGroupsBefore) {
    give_registers<Tile::kFewRegisters>();
    const int wave = wave_of_block();
    if (wave == 0) {
      copy_gated_tiles<Tile>(a, maps, order, shared, rank);
    } else {
      norm_gated_tiles<Tile>(a, order, shared, wave - 1);
    }
  } else {
    take_registers<Tile::kManyRegisters>();
    GatedGroup<Tile>{a, maps, order, shared, warpgroup_of_block() - Tile::kGroupsBefore}.run();
    if (!Tile::kUpdates && wave_of_block() % (kWarpgroup / 32) == 0 && one_lane())
      stores_read<0>();  // before shared memory goes
  }
  wave_sync<32>();
  cluster_barrier();
}

}  // namespace biogpu::gpu::ops
