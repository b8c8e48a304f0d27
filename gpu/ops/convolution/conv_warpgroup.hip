// conv_product.hip's products with Hopper's warpgroup products: large ones there.
//
// Shapes   see conv_product.hpp; one segment, or a part of it.
// Mapping  that of gemm_warpgroup.hip, with tiles of 128 rows and 128 columns. A slice of 64
//          channels of one tap is a box of x further up or down: the copy engine's zeros outside of
//          x are the padding. fp32 operands are two matrices of 16-bit parts, of which high, low
//          and high are multiplied in turn. Results that need no other rows leave through shared
//          memory, in fp32 and in 16 bits; else from the registers, two neighbours a lane; while
//          the other warpgroup computes. Pools store logits, which pool_pairs.hpp reads.
// Traffic  see conv_product.hip. 2 * 128 * 128 * 64 operations for 24 KB from L2, as two blocks of
//          a cluster share columns: compute bound, but for pools and one tap below about 1,000
//          channels, whose fp32 rows come from memory and go there (10 to 16 bytes a result).
// Result   fp32 sums over k in steps of 16, ascending, of fp32 operands in parts of 64:
//          independent of m and of the grid.
// Limits   sm_90a; channels a multiple of 64, columns of 8, rows of results of 16 bytes.
// Source   own.
// Oracle   conv1d_ref, lib/ops/convolution/conv1d_ref.cpp, and attention_pool_ref,
//          lib/ops/reduction/attention_pool_ref.cpp.
#include "gpu/ops/convolution/conv_warpgroup.hpp"

#include "gpu/ops/convolution/pool_pairs.hpp"
#include "gpu/ops/gemm/gemm_warpgroup_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

// Results leave from the registers.
template <Number16 kType_, bool kInParts_ = false>
struct ConvTile {
  static constexpr bool kInParts = kInParts_;  // sums, as gemm_tile::SumParts has them
  static constexpr Number16 kType = kType_;
  static constexpr bool kBoxed = false;
  static constexpr int kCluster = 2;
  static constexpr bool kBeside = false;
  static constexpr int kRowTiles = 2;
  static constexpr int kRows = 64 * kRowTiles;
  static constexpr int kColumns = 128;
  static constexpr int kColumnsBrought = kColumns / kCluster;
  static constexpr int kDepth = 64;
  static constexpr int kStageBytes = 128 * (kRows + kColumns);
  static constexpr int kThreads = 3 * kWarpgroup;
  static constexpr int kStages = 6;
  static constexpr int kBoxes = 0, kBoxBytes = 0;
  static constexpr std::size_t kSharedBytes =
      1024 + kStages * kStageBytes + 2 * kStages * sizeof(SharedBarrier);
};

// Results leave through shared memory in boxes, as fp32 and, where operands are not in parts, as
// the next layer reads them in 16 bits.
template <Number16 kType, bool kInParts = false>
struct BoxedConvTile : ConvTile<kType, kInParts> {
  using Base = ConvTile<kType, kInParts>;
  static constexpr bool kBoxed = true, kWide = true;
  static constexpr int kStages = 5;
  static constexpr int kBoxes = 2;        // of a warpgroup
  static constexpr int kBoxColumns = 32;  // of fp32
  static constexpr int kBoxBytes = 128 * Base::kRows;
  static constexpr std::size_t kSharedBytes = 1024 + kStages * Base::kStageBytes +
                                              2 * kBoxes * kBoxBytes +
                                              2 * kStages * sizeof(SharedBarrier);
};

constexpr int kNextColumns = 64;  // of a box of 16-bit numbers

struct ConvMaps {
  TensorMap x, low, weight, out, next;  // out, next: of boxed tiles
};

// Pairs of neighbours [c, c + 1] of kGroup groups of 8 columns.
template <int kGroup>
using Pairs = Pair[kGroup];

template <int kGroup>
__device__ __forceinline__ void load_numbers(const float* from, int c, int n, float otherwise,
                                             Pairs<kGroup>& to) {
#pragma unroll
  for (int j = 0; j < kGroup; ++j) {
    const bool given = from != nullptr && c + 8 * j < n;
    to[j] = given ? *reinterpret_cast<const Pair*>(from + c + 8 * j) : Pair{otherwise, otherwise};
  }
}

template <int kGroup>
__device__ __forceinline__ void load_row(const Rows& rows, std::int64_t row, int c, int n,
                                         Pairs<kGroup>& to) {
  load_numbers<kGroup>(static_cast<const float*>(rows.data) + row * rows.stride, c, n, 0, to);
}

// What lies behind the sums, as finish_values() has it, of kGroup groups of columns at a time: all
// that they need is loaded before the first is stored, since the compiler does not know that no
// load reads what was stored.
template <class Tile, int kGroup, bool kResidual>
__device__ __forceinline__ void store_conv_tile(const ConvArgs& a, LanePlace lane,
                                                const Sums<Tile>& d) {
  constexpr int kLaneRows = 2 * Tile::kRowTiles;
  const int n = a.outputs.n;
  const ActivatedRows& next = a.outputs.activated;
#pragma unroll
  for (int j0 = 0; j0 < Tile::kColumns / 8; j0 += kGroup) {
    const int c = lane.column + 8 * j0;
    Pairs<kGroup> bias, scale, shift, residual[kLaneRows];
    load_numbers<kGroup>(a.bias, c, n, 0, bias);
    load_numbers<kGroup>(next.scale, c, n, 1, scale);
    load_numbers<kGroup>(next.shift, c, n, 0, shift);
#pragma unroll
    for (int k = 0; k < kLaneRows; ++k) {
      const int r = lane.row + 8 * (k % 2) + 64 * (k / 2);
      if (r >= a.m) continue;
      if constexpr (kResidual) load_row<kGroup>(a.residual, a.first_row + r, c, n, residual[k]);
    }
#pragma unroll
    for (int k = 0; k < kLaneRows; ++k) {
      const int r = lane.row + 8 * (k % 2) + 64 * (k / 2);
      if (r >= a.m) continue;
#pragma unroll
      for (int j = 0; j < kGroup; ++j) {
        if (c + 8 * j >= n) continue;
        const float* const sum = d[k / 2] + 4 * (j0 + j) + 2 * (k % 2);
        float y[2] = {sum[0] + bias[j].x, sum[1] + bias[j].y};
        if constexpr (kResidual) {
          y[0] += residual[k][j].x;
          y[1] += residual[k][j].y;
        }
        const std::int64_t row = a.first_row + r;
        if (a.outputs.out.data != nullptr) store_neighbours<2>(a.outputs.out, row, c + 8 * j, n, y);
        if (next.out.data == nullptr) continue;
        const float z[2] = {activate(next.activation, y[0] * scale[j].x + shift[j].x),
                            activate(next.activation, y[1] * scale[j].y + shift[j].y)};
        store_neighbours<2>(next.out, row, c + 8 * j, n, z);
      }
    }
  }
}

template <class Tile>
__device__ __forceinline__ void finish_conv_tile(const ConvArgs& a, LanePlace lane,
                                                 const Sums<Tile>& d) {
  if (a.residual.data != nullptr) return store_conv_tile<Tile, 2, true>(a, lane, d);
  store_conv_tile<Tile, 4, false>(a, lane, d);
}

// One box of this lane's sums as the next layer reads them, to shared memory.
template <class Tile>
__device__ __forceinline__ void fill_next_box(const ConvArgs& a, LanePlace lane, std::uint32_t box,
                                              int first_column, const Sums<Tile>& d) {
  const ActivatedRows& next = a.outputs.activated;
  const int in_wave = static_cast<int>(threadIdx.x) % 32;
  const int wave_row = static_cast<int>(threadIdx.x) / 32 % 4 * 16;
  const auto numbers = [&](const float* from, int further, float otherwise) -> Pair {
    if (from == nullptr || lane.column + further >= a.outputs.n) return {otherwise, otherwise};
    return *reinterpret_cast<const Pair*>(from + lane.column + further);
  };
#pragma unroll
  for (int j = 0; j < kNextColumns / 8; j += 2) {
    Pair bias[2], scale[2], shift[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int further = first_column + 8 * (j + i);
      bias[i] = numbers(a.bias, further, 0);
      scale[i] = numbers(next.scale, further, 1);
      shift[i] = numbers(next.shift, further, 0);
    }
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      std::uint32_t word[4];
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const float* const y = d[i] + (first_column / 8 + j) * 4 + 2 * p;
        const int group = p / 2;
        word[p] = number16_pair<Tile::kType>(
            activate(next.activation, (y[0] + bias[group].x) * scale[group].x + shift[group].x),
            activate(next.activation, (y[1] + bias[group].y) * scale[group].y + shift[group].y));
      }
      store_tiles4(box + box_piece(64 * i + wave_row + in_wave % 16, j + in_wave / 16), word);
    }
  }
}

// fill(box): numbers of this warpgroup's tile to shared memory, which leave from there.
template <class Tile, class Fill>
__device__ __forceinline__ void store_through_box(const WarpgroupShared<Tile>& shared, int which,
                                                  const TensorMap* map, int row, int column,
                                                  const Fill& fill) {
  const int group = warpgroup_of_block() - 1;
  const bool stores = wave_stores();
  std::uint8_t* const box = shared.box(group, which % Tile::kBoxes);
  if (stores && one_lane()) stores_read<Tile::kBoxes - 1>();  // what was there has left
  named_barrier<kWarpgroup>(kBoxBarrier + group);
  fill(shared_address(box));
  publish_shared();
  named_barrier<kWarpgroup>(kBoxBarrier + group);
  if (stores && one_lane()) {
    store_box(map, row, column, box);
    stores_commit();
  }
}

template <class Tile>
__device__ __forceinline__ void store_boxes(const ConvArgs& a, const ConvMaps& maps,
                                            const WarpgroupShared<Tile>& shared, TilePlace place,
                                            LanePlace lane, const Sums<Tile>& d) {
  if (a.outputs.out.data != nullptr) {
    const LaneBias bias = {a.bias, lane.column, a.outputs.n};
#pragma unroll
    for (int c = 0; c < Tile::kColumns; c += Tile::kBoxColumns) {
      store_through_box(shared, c / Tile::kBoxColumns, &maps.out, place.row, place.column + c,
                        [&](std::uint32_t box) {
                          fill_box<Tile, TileActivation::none>(Activation::none, bias, box, c, d);
                        });
    }
  }
  if constexpr (!Tile::kInParts) {
    if (a.outputs.activated.out.data == nullptr) return;
#pragma unroll
    for (int c = 0; c < Tile::kColumns; c += kNextColumns) {
      store_through_box(shared, c / kNextColumns, &maps.next, place.row, place.column + c,
                        [&](std::uint32_t box) { fill_next_box<Tile>(a, lane, box, c, d); });
    }
  }
}

template <class Tile>
__global__ BIOGPU_CLUSTER_OF(Tile::kCluster) BIOGPU_LAUNCH_BOUNDS(Tile::kThreads, 1)  //
    void conv_warpgroup_kernel(const ConvArgs a, const BIOGPU_GRID_CONSTANT ConvMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const WarpgroupShared<Tile> shared = shared_of<Tile>(dynamic);
  constexpr int kAll = (1 << Tile::kCluster) - 1;
  const int of_tap = a.channels / Tile::kDepth, of_part = of_tap * a.taps;  // slices
  const int first_row = a.first_row - a.first_x_row - a.taps / 2;
  const int first_column = block_of_cluster() * Tile::kColumnsBrought;
  compute_tiles<Tile>(
      TileOrder<Tile>(a.m, a.outputs.n), a.k / Tile::kDepth, shared, a.sum_scale,
      [&](TilePlace place, int s, int stage, SharedBarrier* full) {
        const int part = s / of_part, in_part = s - part * of_part, tap = in_part / of_tap;
        copy_box(shared.a(stage), part == 1 ? &maps.low : &maps.x, place.row + first_row + tap,
                 (in_part - tap * of_tap) * Tile::kDepth, full);
        copy_box_to(shared.b(stage) + 128 * first_column, &maps.weight, place.column + first_column,
                    s * Tile::kDepth, full, kAll);
      },
      [&](TilePlace place, LanePlace lane, Sums<Tile>& d) {
        if constexpr (Tile::kBoxed) {
          store_boxes<Tile>(a, maps, shared, place, lane, d);
        } else {
          finish_conv_tile<Tile>(a, lane, d);
        }
      });
}

// Rows [first_row, first_row + m) of a result in boxes, where it is given; for Hopper alone.
[[maybe_unused]] bool map_result(TensorMap* map, const ConvArgs& a, const Rows& rows,
                                 BoxedMatrix::Number number, int box_rows) {
  if (rows.data == nullptr) return true;
  const auto bytes = static_cast<std::int64_t>(bytes_of(rows.type));
  return make_tensor_map(map, {static_cast<char*>(rows.data) + a.first_row * rows.stride * bytes,
                               a.m, a.outputs.n, rows.stride, number, box_rows});
}

template <bool kCompiled, class Tile>
bool launch_tiles(const ConvArgs& a, Stream& stream) {
  if constexpr (kCompiled) {
    using Number = BoxedMatrix::Number;
    ConvMaps maps = {};
    const auto rows = [&](TensorMap* map, const std::uint16_t* data) {
      return make_tensor_map(
          map, {data, a.n_x_rows, a.channels, a.channels, Number::bits16, Tile::kRows});
    };
    if (!rows(&maps.x, a.x) || !rows(&maps.low, a.low == nullptr ? a.x : a.low) ||
        !make_tensor_map(&maps.weight,
                         {a.weight, a.outputs.n, a.k, a.k, Number::bits16, Tile::kColumnsBrought}))
      return false;
    if (Tile::kBoxed &&
        (!map_result(&maps.out, a, a.outputs.out, Number::f32, Tile::kRows) ||
         !map_result(&maps.next, a, a.outputs.activated.out, Number::bits16, Tile::kRows)))
      return false;
    launch_clusters(stream, conv_warpgroup_kernel<Tile>,
                    count_blocks(TileOrder<Tile>(a.m, a.outputs.n), stream), Tile::kCluster,
                    Tile::kThreads, Tile::kSharedBytes, a, maps);
    return true;
  }
  return false;
}

// fp32 operands are in parts of fp16.
template <Number16 kType>
bool launch_type(const ConvArgs& a, Stream& stream) {
  constexpr Element kOperand = kType == Number16::fp16 ? Element::fp16 : Element::bf16;
  const auto fits = [](const Rows& rows, Element type) {
    const auto bytes = static_cast<std::int64_t>(bytes_of(type));
    return rows.data == nullptr ||
           (rows.type == type && reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 &&
            rows.stride * bytes % 16 == 0);
  };
  const Rows &out = a.outputs.out, &next = a.outputs.activated.out;
  const bool boxed = a.residual.data == nullptr && fits(out, Element::f32);
  if constexpr (kType == Number16::fp16) {
    if (a.low != nullptr && boxed && next.data == nullptr)
      return launch_tiles<kHasWarpgroups, BoxedConvTile<kType, true>>(a, stream);
    if (a.low != nullptr) return launch_tiles<kHasWarpgroups, ConvTile<kType, true>>(a, stream);
  }
  return boxed && fits(next, kOperand)
             ? launch_tiles<kHasWarpgroups, BoxedConvTile<kType>>(a, stream)
             : launch_tiles<kHasWarpgroups, ConvTile<kType>>(a, stream);
}

bool launch_product(const ConvArgs& a, Number16 type, Stream& stream) {
  return type == Number16::fp16 ? launch_type<Number16::fp16>(a, stream)
                                : launch_type<Number16::bf16>(a, stream);
}

// A pool is computed in pieces of rows, each of so many tiles of logits a multiprocessor that L2
// still holds them when the second step reads them: 26 MB with 132 multiprocessors.
constexpr int kTilesOnce = 3;

struct PoolLogits {
  explicit PoolLogits(Device&) {}
  DeviceBuffer<float> memory;
};

// Results are the same for pieces of any size.
template <bool kCompiled>
bool launch_pool(const ConvArgs& a, Number16 type, Device& device) {
  if constexpr (kCompiled) {
    using Tile = BoxedConvTile<Number16::fp16>;
    const int n = a.outputs.n;
    const int n_clusters = kTilesOnce * device.stream().n_multiprocessors() / Tile::kCluster;
    const int rows_once =
        Tile::kCluster * Tile::kRows * std::max(1, n_clusters / ceil_div(n, Tile::kColumns));
    auto& logits = device.state<PoolLogits>().memory;
    device.grow(logits, static_cast<std::size_t>(std::min(rows_once, a.m)) * n);
    for (int row = 0; row < a.m; row += rows_once) {
      ConvArgs piece = a;
      piece.m = std::min(rows_once, a.m - row);
      piece.first_row = 0;  // of the logits
      piece.first_x_row = a.first_x_row - a.first_row - row;
      piece.pairs = nullptr;
      piece.outputs = {n, {logits.data(), n, Element::f32}, {}};
      if (!launch_product(piece, type, device.stream())) return false;
      device.stream().launch(
          pool_pairs_kernel<kRowBlock>, row_blocks(std::int64_t{piece.m} * (n / 4)), kRowBlock,
          PoolPairs{logits.data(), a.pairs, a.paired, a.first_row + row, piece.m, a.outputs});
    }
    return true;
  }
  return false;
}

}  // namespace

bool conv_suits_warpgroups(const ConvArgs& a, std::int64_t m, const Stream& stream) {
  const auto even = [](const Rows& rows) { return rows.data == nullptr || rows.stride % 2 == 0; };
  const bool wide = (a.residual.data == nullptr || a.residual.type == Element::f32) &&
                    (a.pairs == nullptr || suits_pool_pairs(a)) && even(a.residual);
  return has_warpgroups() && wide && a.stride == 1 && a.taps % 2 == 1 && a.channels % 64 == 0 &&
         a.outputs.n % 8 == 0 &&
         ceil_div(m, std::int64_t{128}) * ceil_div(a.outputs.n, 128) >= stream.n_multiprocessors();
}

bool launch_conv_warpgroup(const ConvArgs& a, Number16 type, Device& device) {
  return a.pairs != nullptr ? launch_pool<kHasWarpgroups>(a, type, device)
                            : launch_product(a, type, device.stream());
}

}  // namespace biogpu::gpu::ops
