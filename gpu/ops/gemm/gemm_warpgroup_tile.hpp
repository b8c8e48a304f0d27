#pragma once

// What gemm_warpgroup.hip's kernel is made of: a block that copies ahead and two warpgroups that
// compute. For Hopper alone.

#include <algorithm>

#include "gpu/ops/gemm/gemm_warpgroup_epilogue.hpp"
#include "gpu/prim/tma_ring.hpp"
#include "gpu/prim/warpgroup_product.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

// Each of the two warpgroups has a tile of its own and stores it while the other one computes.
// kWide: results in fp32. Two blocks of a cluster lie below each other and bring each other half of
// the columns they share, or (kBeside) beside each other, and half of the rows.
template <Number16 kType_, bool kWide_, int kColumns_, bool kBeside_, int kStages_,
          bool kInParts_ = false>
struct WarpgroupTile {
  static constexpr bool kInParts = kInParts_;  // sums, as gemm_tile::SumParts has them
  static constexpr int kCluster = 2;
  static constexpr bool kBeside = kBeside_;
  static constexpr Number16 kType = kType_;
  static constexpr bool kWide = kWide_;
  static constexpr int kRowTiles = 2;  // of 64 rows, those of one product
  static constexpr int kRows = 64 * kRowTiles;
  static constexpr int kColumns = kColumns_;
  static constexpr int kRowsBrought = kBeside ? kRows / kCluster : kRows;
  static constexpr int kColumnsBrought = kBeside ? kColumns : kColumns / kCluster;
  static constexpr int kDepth = 64;  // of a slice: 128 bytes
  static constexpr int kStages = kStages_;
  static constexpr int kStageBytes = 128 * (kRows + kColumns);
  // Results leave in boxes of 128 bytes a row; each warpgroup has room for kBoxes of them.
  static constexpr int kBoxes = kColumns > 128 ? 1 : 2;
  static constexpr int kBoxColumns = kWide ? 32 : 64;
  static constexpr int kBoxBytes = 128 * kRows;
  static constexpr int kThreads = 3 * kWarpgroup;
  static constexpr std::size_t kSharedBytes =
      1024 + kStages * kStageBytes + 2 * kBoxes * kBoxBytes + 2 * kStages * sizeof(SharedBarrier);
  // Where boxes end with the tile. Else the last one lies across the one before.
  static constexpr bool kAdds = kColumns % kBoxColumns == 0;
  static_assert(kAdds || !kWide);
  // Wider tiles have no registers left for activations other than the exact GELU.
  static constexpr bool kAnyActivation = kColumns <= 160;
};

// Of each warpgroup one wave starts its stores, by one lane.
__device__ __forceinline__ bool wave_stores() { return wave_of_block() % (kWarpgroup / 32) == 0; }

// Names of barriers, one for each warpgroup that computes.
inline constexpr int kBoxBarrier = 1, kTurnBarrier = 3;

struct WarpgroupMaps {
  TensorMap a, b, out;
};

struct TilePlace {
  int row, column;
};

// Tiles of the whole cluster, in groups of rows so that L2 serves them; inside a group down first.
template <class Tile>
struct TileOrder {
  static constexpr int kDown = Tile::kBeside ? 1 : Tile::kCluster;
  static constexpr int kAcross = Tile::kBeside ? Tile::kCluster : 1;
  int n_down, n_across;
  __host__ __device__ __forceinline__ TileOrder(int m, int n)
      : n_down(ceil_div(m, Tile::kRows * kDown)), n_across(ceil_div(n, Tile::kColumns * kAcross)) {}
  __host__ __device__ __forceinline__ int size() const { return n_down * n_across; }
  __device__ __forceinline__ TilePlace place(int item, int rank) const {
    constexpr int kHeight = 2048 / (Tile::kRows * kDown);
    const int group = item / (kHeight * n_across);
    const int first = group * kHeight;
    const int height = n_down - first < kHeight ? n_down - first : kHeight;
    const int in_group = item - group * kHeight * n_across;
    const int down = (first + in_group % height) * kDown + (Tile::kBeside ? 0 : rank);
    const int across = in_group / height * kAcross + (Tile::kBeside ? rank : 0);
    return {down * Tile::kRows, across * Tile::kColumns};
  }
};

template <class Tile>
struct WarpgroupShared {
  std::uint8_t* operands;
  SharedBarrier* full;
  SharedBarrier* empty;
  __device__ __forceinline__ std::uint8_t* a(int stage) const {
    return operands + stage * Tile::kStageBytes;
  }
  __device__ __forceinline__ std::uint8_t* b(int stage) const {
    return a(stage) + 128 * Tile::kRows;
  }
  __device__ __forceinline__ std::uint8_t* box(int group, int which) const {
    return operands + Tile::kStages * Tile::kStageBytes +
           (Tile::kBoxes * group + which) * Tile::kBoxBytes;
  }
};

// One wave: slices of all tiles of this block, in the order in which they are computed.
// bring(place, slice, stage, full): by one lane, a slice's rows and columns to a stage.
template <class Tile, class Bring>
__device__ __forceinline__ void copy_tiles(const TileOrder<Tile>& order, int n_slices,
                                           const WarpgroupShared<Tile>& shared, int rank,
                                           const Bring& bring) {
  PipelineState<Tile::kStages> turn;
  for (int item = static_cast<int>(blockIdx.x) / Tile::kCluster; item < order.size();
       item += static_cast<int>(gridDim.x) / Tile::kCluster) {
    const TilePlace place = order.place(item, rank);
    for (int s = 0; s < n_slices; ++s) {
      SharedBarrier* const full = shared.full + turn.stage;
      barrier_wait(shared.empty + turn.stage, turn.parity ^ 1);
      if (one_lane()) {
        barrier_expect(full, Tile::kStageBytes);
        bring(place, s, turn.stage, full);
      }
      turn.advance();
    }
  }
}

template <class Tile, TileActivation kActivation>
__device__ __forceinline__ void store_tile(const GemmArgs& a, const WarpgroupMaps& maps,
                                           const WarpgroupShared<Tile>& shared, TilePlace place,
                                           const LaneBias& bias, const Sums<Tile>& d) {
  const int group = warpgroup_of_block() - 1;
  const bool stores = wave_stores();
#pragma unroll
  for (int begin = 0; begin < Tile::kColumns; begin += Tile::kBoxColumns) {
    // The last box may store columns of the one before it again: the same numbers.
    constexpr int kLast = Tile::kColumns - Tile::kBoxColumns;
    const int c = begin < kLast ? begin : kLast;
    std::uint8_t* const box = shared.box(group, begin / Tile::kBoxColumns % Tile::kBoxes);
    if (stores && one_lane()) stores_read<Tile::kBoxes - 1>();  // what was there has left
    named_barrier<kWarpgroup>(kBoxBarrier + group);
    fill_box<Tile, kActivation>(a.epilogue.activation, bias, shared_address(box), c, d);
    publish_shared();
    named_barrier<kWarpgroup>(kBoxBarrier + group);
    if (stores && one_lane()) {
      if (Tile::kAdds && a.epilogue.residual.data != nullptr) {
        add_box(&maps.out, place.row, place.column + c, box);
      } else {
        store_box(&maps.out, place.row, place.column + c, box);
      }
      stores_commit();
    }
  }
}

// All slices of one tile into `d`; queued() is called once all products wait for the matrix cores.
template <class Tile, class Queued>
__device__ __forceinline__ void multiply_slices(const WarpgroupShared<Tile>& shared, int n_slices,
                                                PipelineState<Tile::kStages>& turn, Sums<Tile>& d,
                                                Queued&& queued) {
  using Product = WarpgroupProduct<Tile::kColumns, Tile::kType>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto release = [&](int stage) {
    if (lane < Tile::kCluster) barrier_arrive_at(shared.empty + stage, lane);
  };
  int before = 0;
  for (int s = 0; s < n_slices; ++s) {
    barrier_wait(shared.full + turn.stage, turn.parity);
    const std::uint64_t left = operand_at(shared.a(turn.stage));
    const std::uint64_t right = operand_at(shared.b(turn.stage));
    products_begin();
#pragma unroll
    for (int k = 0; k < 128; k += 32) {
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) {
        Product::both(d[i], operand_after(left, k + 128 * 64 * i), operand_after(right, k),
                      s > 0 || k > 0);
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

// The same with the products of each slice, 64 numbers of the summed index, in sums that begin at
// zero: those of 64 rows at a time, which are then scaled and added. The compiler lets no product
// run while others' sums are read.
template <class Tile, class Queued>
__device__ __forceinline__ void multiply_slices_in_parts(const WarpgroupShared<Tile>& shared,
                                                         int n_slices,
                                                         PipelineState<Tile::kStages>& turn,
                                                         float scale, Sums<Tile>& d,
                                                         Queued&& queued) {
  using Product = WarpgroupProduct<Tile::kColumns, Tile::kType>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int e = 0; e < Product::kSums; ++e) d[i][e] = 0;
  }
  for (int s = 0; s < n_slices; ++s) {
    barrier_wait(shared.full + turn.stage, turn.parity);
    const std::uint64_t left = operand_at(shared.a(turn.stage));
    const std::uint64_t right = operand_at(shared.b(turn.stage));
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      float part[Product::kSums];
      products_begin();
#pragma unroll
      for (int k = 0; k < 128; k += 32) {
        Product::both(part, operand_after(left, k + 128 * 64 * i), operand_after(right, k), k > 0);
      }
      products_commit();
      if (i + 1 == Tile::kRowTiles && s + 1 == n_slices) queued();
      products_wait<0>();
      products_fence(part);
#pragma unroll
      for (int e = 0; e < Product::kSums; ++e) d[i][e] += part[e] * scale;
    }
    if (lane < Tile::kCluster) barrier_arrive_at(shared.empty + turn.stage, lane);
    turn.advance();
  }
}

// finish(place, lane, d): stores a tile.
template <class Tile, class Finish>
__device__ __forceinline__ void multiply_tiles(const TileOrder<Tile>& order, int n_slices,
                                               const WarpgroupShared<Tile>& shared, int rank,
                                               [[maybe_unused]] float scale, const Finish& finish) {
  const int group = warpgroup_of_block() - 1;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  const int stride = static_cast<int>(gridDim.x) / Tile::kCluster;
  const int first = static_cast<int>(blockIdx.x) / Tile::kCluster;
  int item = first;
  PipelineState<Tile::kStages> turn;
  if (group == 1) {
    item += stride;
    turn.advance(n_slices);
  }
  while (item < order.size()) {
    const TilePlace place = order.place(item, rank);
    const LanePlace lane = {place.row + thread / 32 * 16 + thread % 32 / 4,
                            place.column + 2 * (thread % 4)};
    // A warpgroup that waits for a stage must not be a whole round ahead of it, or it takes the
    // round before for its own: it begins when the other one waits for no more.
    if (item != first) named_barrier<2 * kWarpgroup>(kTurnBarrier + group);
    Sums<Tile> d;
    const auto queued = [&] {
      if (item + stride < order.size()) named_arrive<2 * kWarpgroup>(kTurnBarrier + 1 - group);
    };
    if constexpr (Tile::kInParts) {
      multiply_slices_in_parts<Tile>(shared, n_slices, turn, scale, d, queued);
    } else {
      multiply_slices<Tile>(shared, n_slices, turn, d, queued);
    }
    finish(place, lane, d);
    item += 2 * stride;
    turn.advance(n_slices);
  }
}

template <class Tile>
__device__ __forceinline__ WarpgroupShared<Tile> shared_of(std::uint8_t* dynamic) {
  WarpgroupShared<Tile> shared;
  shared.operands = dynamic + (1024 - shared_address(dynamic) % 1024) % 1024;
  shared.full = reinterpret_cast<SharedBarrier*>(shared.box(2, 0));
  shared.empty = shared.full + Tile::kStages;
  return shared;
}

// What a block of such a kernel does: one wave copies, two warpgroups compute. scale: of sums in
// parts.
template <class Tile, class Bring, class Finish>
__device__ __forceinline__ void compute_tiles(const TileOrder<Tile>& order, int n_slices,
                                              const WarpgroupShared<Tile>& shared, float scale,
                                              const Bring& bring, const Finish& finish) {
  const int rank = block_of_cluster();
  if (threadIdx.x == 0) {
    constexpr int kWaves = kWarpgroup / 32;  // that read a stage
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, kWaves * Tile::kCluster);
    }
    barrier_init_done();
  }
  cluster_barrier();
  if (threadIdx.x < kWarpgroup) {
    give_registers<40>();
    if (wave_of_block() == 0) copy_tiles<Tile>(order, n_slices, shared, rank, bring);
  } else {
    take_registers<232>();
    multiply_tiles<Tile>(order, n_slices, shared, rank, scale, finish);
    if (wave_stores() && one_lane())
      stores_read<0>();  // shared memory stays until the last box has left it
  }
  // No block leaves while another one may still write to it or arrive at its barriers.
  wave_sync<32>();
  cluster_barrier();
}

template <class Tile>
__device__ __forceinline__ void finish_tile(const GemmArgs& a, const WarpgroupMaps& maps,
                                            const WarpgroupShared<Tile>& shared, TilePlace place,
                                            LanePlace lane, Sums<Tile>& d) {
  LaneBias bias = {a.epilogue.bias, lane.column, a.n};
  if constexpr (!Tile::kWide) {
    if (a.epilogue.cos_sin != nullptr && place.column < a.epilogue.n_rotated) {
      add_bias<Tile>(bias, d);
      bias.bias = nullptr;
      rotate_heads<Tile>(a, lane, d);
    }
  }
  if (Tile::kWide || a.epilogue.activation == Activation::none) {
    store_tile<Tile, TileActivation::none>(a, maps, shared, place, bias, d);
  } else if (a.epilogue.activation == Activation::gelu_erf) {
    store_tile<Tile, TileActivation::gelu_erf>(a, maps, shared, place, bias, d);
  } else if constexpr (Tile::kAnyActivation) {
    store_tile<Tile, TileActivation::other>(a, maps, shared, place, bias, d);
  }
}

template <class Tile>
__global__ BIOGPU_CLUSTER_OF(Tile::kCluster) BIOGPU_LAUNCH_BOUNDS(Tile::kThreads, 1)  //
    void gemm_warpgroup_kernel(const GemmArgs a, const BIOGPU_GRID_CONSTANT WarpgroupMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const WarpgroupShared<Tile> shared = shared_of<Tile>(dynamic);
  constexpr int kAll = (1 << Tile::kCluster) - 1;
  const int rank = block_of_cluster();
  compute_tiles<Tile>(
      TileOrder<Tile>(a.m, a.n), ceil_div(a.k, Tile::kDepth), shared, a.sum_scale,
      [&](TilePlace place, int s, int stage, SharedBarrier* full) {
        const int k = s * Tile::kDepth;
        if constexpr (Tile::kBeside) {
          const int first = rank * Tile::kRowsBrought;
          copy_box_to(shared.a(stage) + 128 * first, &maps.a, place.row + first, k, full, kAll);
          copy_box(shared.b(stage), &maps.b, place.column, k, full);
        } else {
          const int first = rank * Tile::kColumnsBrought;
          copy_box(shared.a(stage), &maps.a, place.row, k, full);
          copy_box_to(shared.b(stage) + 128 * first, &maps.b, place.column + first, k, full, kAll);
        }
      },
      [&](TilePlace place, LanePlace lane, Sums<Tile>& d) {
        finish_tile<Tile>(a, maps, shared, place, lane, d);
      });
}

// Blocks of a launch of clusters that take the tiles in turn.
template <class Tile>
std::size_t count_blocks(const TileOrder<Tile>& order, const Stream& stream) {
  const int n_clusters = stream.n_multiprocessors() / Tile::kCluster;
  return static_cast<std::size_t>(std::min(order.size(), n_clusters) * Tile::kCluster);
}

template <class Tile>
bool launch_warpgroup_tiles(const GemmArgs& a, Stream& stream) {
  using Number = BoxedMatrix::Number;
  constexpr Number kOut = Tile::kWide                     ? Number::f32
                          : Tile::kType == Number16::fp16 ? Number::fp16
                                                          : Number::bf16;
  WarpgroupMaps maps;
  if (!make_tensor_map(&maps.a, {a.a, a.m, a.k, a.lda, Number::bits16, Tile::kRowsBrought}) ||
      !make_tensor_map(&maps.b, {a.b, a.n, a.k, a.ldb, Number::bits16, Tile::kColumnsBrought}) ||
      !make_tensor_map(&maps.out, {a.out.data, a.m, a.n, a.out.stride, kOut, Tile::kRows}))
    return false;
  launch_clusters(stream, gemm_warpgroup_kernel<Tile>,
                  count_blocks(TileOrder<Tile>(a.m, a.n), stream), Tile::kCluster, Tile::kThreads,
                  Tile::kSharedBytes, a, maps);
  return true;
}

}  // namespace biogpu::gpu::ops
