#pragma once

// What the products of triangle_product_warpgroup.hip are made of: y = a b^T for each channel, both
// [N, N], 16 bits. For Hopper alone.

#include "gpu/ops/gemm/gemm_warpgroup_tile.hpp"
#include "gpu/ops/triangle/fold_norm.hpp"

namespace biogpu::gpu::ops {

// kTogether: both warpgroups compute 128 rows each of one tile; else each has a tile of 128 rows
// of its own and stores it while the other one computes. Two blocks of a cluster lie next to each
// other and bring each other half of the rows they share. kDown: the summed index runs down the
// matrices.
template <Number16 kType_, int kColumns_, bool kTogether_, bool kDown_, int kStages_>
struct ChannelTile {
  static constexpr Number16 kType = kType_;
  static constexpr bool kWide = false, kDown = kDown_, kTogether = kTogether_;
  static constexpr int kCluster = 2;
  static constexpr int kRowTiles = 2;  // of 64 rows: those of a warpgroup
  static constexpr int kGroupRows = 64 * kRowTiles;
  static constexpr int kRows = kTogether ? 2 * kGroupRows : kGroupRows;
  static constexpr int kColumns = kColumns_;
  static constexpr int kDepth = 64;
  static constexpr int kStages = kStages_;
  static constexpr int kStageBytes = 128 * (kRows + kColumns);
  static constexpr int kSquareBytes = 128 * 64;  // a box of 64 x 64
  static constexpr int kBoxes = 2;               // of results, for each warpgroup
  static constexpr int kBoxBytes = kSquareBytes;
  static constexpr int kThreads = 3 * kWarpgroup;
  static constexpr int kWavesOfStage = (kTogether ? 2 : 1) * kWarpgroup / 32;
  static constexpr std::size_t kSharedBytes =
      1024 + kStages * kStageBytes + 2 * kBoxes * kBoxBytes + 2 * kStages * sizeof(SharedBarrier);
  // Rows of the boxes that bring both operands.
  static constexpr int kBoxRowsA = kDown ? 64 : kRows / kCluster;
  static constexpr int kBoxRowsB = kDown ? 64 : kColumns;
  static_assert(kColumns % 64 == 0 && kSharedBytes <= 232448);
};

struct ChannelProduct {
  int n_channels, n;
  FoldedNorm norm;  // what waves without other work compute
};

struct ChannelMaps {
  TensorMap a, b, out;
};

struct ChannelPlace {
  int channel, row, column;
};

// Tiles of the whole cluster, channel after channel.
template <class Tile>
struct ChannelOrder {
  int n_channels, n_down, n_across;
  __host__ __device__ __forceinline__ explicit ChannelOrder(const ChannelProduct& p)
      : n_channels(p.n_channels),
        n_down(ceil_div(p.n, Tile::kRows)),
        n_across(ceil_div(p.n, Tile::kCluster * Tile::kColumns)) {}
  __host__ __device__ __forceinline__ int size() const { return n_channels * n_down * n_across; }
  __device__ __forceinline__ ChannelPlace place(int item, int rank) const {
    const int tile = item % (n_down * n_across);
    return {item / (n_down * n_across), tile % n_down * Tile::kRows,
            (tile / n_down * Tile::kCluster + rank) * Tile::kColumns};
  }
};

// One lane: a slice of both operands to a stage.
template <class Tile>
__device__ __forceinline__ void bring_channel_slice(const ChannelMaps& maps, ChannelPlace place,
                                                    int slice, const WarpgroupShared<Tile>& shared,
                                                    int stage, int rank, SharedBarrier* full) {
  constexpr int kAll = (1 << Tile::kCluster) - 1;
  constexpr int kBrought = Tile::kRows / Tile::kCluster;
  const int k = slice * Tile::kDepth;
  std::uint8_t* const a = shared.a(stage) + 128 * kBrought * rank;
  const int row = place.row + kBrought * rank;
  if constexpr (Tile::kDown) {
#pragma unroll
    for (int box = 0; box < kBrought / 64; ++box)
      copy_layer_box_to(a + box * Tile::kSquareBytes, &maps.a, place.channel, k, row + 64 * box,
                        full, kAll);
#pragma unroll
    for (int box = 0; box < Tile::kColumns / 64; ++box)
      copy_layer_box(shared.b(stage) + box * Tile::kSquareBytes, &maps.b, place.channel, k,
                     place.column + 64 * box, full);
  } else {
    copy_layer_box_to(a, &maps.a, place.channel, row, k, full, kAll);
    copy_layer_box(shared.b(stage), &maps.b, place.channel, place.column, k, full);
  }
}

// All slices of a warpgroup's rows into `d`; queued() is called once all products wait for the
// matrix cores.
template <class Tile, class Queued>
__device__ __forceinline__ void multiply_channel_slices(const WarpgroupShared<Tile>& shared,
                                                        int first_row, int n_slices,
                                                        PipelineState<Tile::kStages>& turn,
                                                        Sums<Tile>& d, Queued&& queued) {
  using Product = WarpgroupProduct<Tile::kColumns, Tile::kType>;
  constexpr int kStepBytes = Tile::kDown ? 128 * 16 : 32;  // 16 numbers of the summed index
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto release = [&](int stage) {
    if (lane < Tile::kCluster) barrier_arrive_at(shared.empty + stage, lane);
  };
  int before = 0;
  for (int s = 0; s < n_slices; ++s) {
    barrier_wait(shared.full + turn.stage, turn.parity);
    const std::uint64_t left = operand_at(shared.a(turn.stage) + 128 * first_row);
    const std::uint64_t right = Tile::kDown
                                    ? wide_operand_at(shared.b(turn.stage), Tile::kSquareBytes)
                                    : operand_at(shared.b(turn.stage));
    products_begin();
#pragma unroll
    for (int k = 0; k < Tile::kDepth / 16; ++k) {
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) {
        Product::template both<Tile::kDown>(
            d[i], operand_after(left, k * kStepBytes + Tile::kSquareBytes * i),
            operand_after(right, k * kStepBytes), s > 0 || k > 0);
      }
    }
    products_commit();
    products_wait<1>();  // at most this slice is left: the one before has been read
    if (s > 0) release(before);
    before = turn.stage;
    turn.advance();
  }
  queued();
  products_wait<0>();
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) products_fence(d[i]);
  release(before);
}

// 64 x 64 of a warpgroup's sums to a box.
template <Number16 kType, int kSums>
__device__ __forceinline__ void fill_square(std::uint32_t box, int first_column,
                                            const float (&d)[kSums]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane % 16;
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    std::uint32_t word[4];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const int at = (first_column / 8 + j) * 4 + 2 * p;
      word[p] = number16_pair<kType>(d[at], d[at + 1]);
    }
    store_tiles4(box + box_piece(row, j + lane / 16), word);
  }
}

template <class Tile>
__device__ __forceinline__ void store_channel_tile(const ChannelMaps& maps,
                                                   const WarpgroupShared<Tile>& shared, int group,
                                                   ChannelPlace place, const Sums<Tile>& d) {
  const bool stores = wave_stores();
#pragma unroll
  for (int c = 0; c < Tile::kColumns; c += 64) {
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      std::uint8_t* const box = shared.box(group, i % Tile::kBoxes);
      if (stores && one_lane()) stores_read<Tile::kBoxes - 1>();  // what was there has left
      named_barrier<kWarpgroup>(kBoxBarrier + group);
      fill_square<Tile::kType>(shared_address(box), c, d[i]);
      publish_shared();
      named_barrier<kWarpgroup>(kBoxBarrier + group);
      if (stores && one_lane()) {
        store_layer_box(&maps.out, place.channel, place.row + 64 * i, place.column + c, box);
        stores_commit();
      }
    }
  }
}

template <class Tile>
__device__ __forceinline__ void compute_channel_tiles(const ChannelMaps& maps,
                                                      const ChannelOrder<Tile>& order, int n_slices,
                                                      const WarpgroupShared<Tile>& shared,
                                                      int rank) {
  const int group = warpgroup_of_block() - 1;
  const int stride = static_cast<int>(gridDim.x) / Tile::kCluster;
  const int first = static_cast<int>(blockIdx.x) / Tile::kCluster;
  int item = first;
  PipelineState<Tile::kStages> turn;
  if constexpr (Tile::kTogether) {
    for (; item < order.size(); item += stride) {
      ChannelPlace place = order.place(item, rank);
      Sums<Tile> d;
      multiply_channel_slices<Tile>(shared, Tile::kGroupRows * group, n_slices, turn, d, [] {});
      place.row += Tile::kGroupRows * group;
      store_channel_tile<Tile>(maps, shared, group, place, d);
    }
    return;
  }
  if (group == 1) {
    item += stride;
    turn.advance(n_slices);
  }
  while (item < order.size()) {
    const ChannelPlace place = order.place(item, rank);
    // As in gemm_warpgroup_tile.hpp: a warpgroup begins when the other one waits for no more.
    if (item != first) named_barrier<2 * kWarpgroup>(kTurnBarrier + group);
    Sums<Tile> d;
    multiply_channel_slices<Tile>(shared, 0, n_slices, turn, d, [&] {
      if (item + stride < order.size()) named_arrive<2 * kWarpgroup>(kTurnBarrier + 1 - group);
    });
    store_channel_tile<Tile>(maps, shared, group, place, d);
    item += 2 * stride;
    turn.advance(n_slices);
  }
}

template <class Tile>
__global__ BIOGPU_CLUSTER_OF(Tile::kCluster) BIOGPU_LAUNCH_BOUNDS(Tile::kThreads, 1)  //
    void channel_product_kernel(const ChannelProduct product,
                                const BIOGPU_GRID_CONSTANT ChannelMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const WarpgroupShared<Tile> shared = shared_of<Tile>(dynamic);
  const ChannelOrder<Tile> order(product);
  const int n_slices = ceil_div(product.n, Tile::kDepth);
  const int rank = block_of_cluster();
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, Tile::kWavesOfStage * Tile::kCluster);
    }
    barrier_init_done();
  }
  cluster_barrier();
  if (threadIdx.x < kWarpgroup) {
    give_registers<40>();
    const int wave = wave_of_block();
    if (wave > 0) {
      constexpr int kFolding = kWarpgroup / 32 - 1;
      for (int row = static_cast<int>(blockIdx.x) * kFolding + wave - 1; row < product.norm.c;
           row += static_cast<int>(gridDim.x) * kFolding)
        fold_norm_row<Tile::kType>(product.norm, row);
    } else {
      PipelineState<Tile::kStages> turn;
      for (int item = static_cast<int>(blockIdx.x) / Tile::kCluster; item < order.size();
           item += static_cast<int>(gridDim.x) / Tile::kCluster) {
        const ChannelPlace place = order.place(item, rank);
        for (int s = 0; s < n_slices; ++s) {
          SharedBarrier* const full = shared.full + turn.stage;
          barrier_wait(shared.empty + turn.stage, turn.parity ^ 1);
          if (one_lane()) {
            barrier_expect(full, Tile::kStageBytes);
            bring_channel_slice<Tile>(maps, place, s, shared, turn.stage, rank, full);
          }
          turn.advance();
        }
      }
    }
  } else {
    take_registers<232>();
    compute_channel_tiles<Tile>(maps, order, n_slices, shared, rank);
    if (wave_stores() && one_lane()) stores_read<0>();  // before shared memory goes
  }
  wave_sync<32>();
  cluster_barrier();
}

}  // namespace biogpu::gpu::ops
