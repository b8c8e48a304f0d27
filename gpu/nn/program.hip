// Runs the steps of a program, one after the other, with all blocks of the device.
//
// Shapes   see program.hpp.
// Mapping  one block of kProgramThreads threads a multiprocessor. rows: a wave a row. product: a
//          block takes tiles of plan.tiles_down x plan.tiles_across; both operands lie in shared
//          memory whole, or in chunks of k; waves share out tiles and parts of k. attention: a
//          block takes 64 queries of a head, all keys of the sequence in shared memory;
//          groups of 4 waves take steps of keys in turn and are merged at the end.
// Traffic  that of the operations; weights of the next product are on their way while a block waits
//          at the barrier. A step costs about a barrier and the latency of one load.
// Result   sums over k in parts, added in order; attention's groups merged in order: independent of
//          the number of blocks, but not the same bytes as the kernels for large batches.
// Limits   rows up to 1280 where they are normalised, heads up to 64, kProgramLength tokens.
// Source   own.
// Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/program.hpp"

#include "gpu/nn/attention_tile.hpp"
#include "gpu/nn/gemm_epilogue.hpp"
#include "gpu/nn/layer_norm_row.hpp"
#include "gpu/prim/grid_barrier.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::nn {
namespace {

constexpr int kThreads = kProgramThreads;

template <int kWave>
inline constexpr int kRowGroups = kWave == 32 ? 10 : 5;  // of 4 columns a lane: 1280 columns

// Columns [k, k + chunk) of n_copied rows from `row` on into shared memory, zeros beyond the
// matrix.
__device__ __forceinline__ void copy_panel(const std::uint16_t* from, std::int64_t stride, int row,
                                           int n_rows, int k, int n_k, int n_copied, int chunk,
                                           std::uint16_t* to) {
  const int pieces = chunk / 8, pitch = chunk + 8;
  for (int i = static_cast<int>(threadIdx.x); i < n_copied * pieces; i += kThreads) {
    const int r = i / pieces, c = i % pieces * 8;
    const bool valid = row + r < n_rows && k + c < n_k;
    const std::int64_t at = valid ? (row + r) * stride + k + c : 0;
    copy_async16(to + r * pitch + c, from + at, valid);
  }
}

// The right operand of a block's first tile: weights, which nothing before the barrier writes.
__device__ __forceinline__ void copy_first_weights(const Stage& stage, std::uint16_t* shared) {
  const ProductPlan& plan = stage.plan;
  const int tile = static_cast<int>(blockIdx.x);
  if (stage.kind == StageKind::product && tile < plan.n_down * plan.n_across) {
    copy_panel(stage.product.b, stage.product.ldb, tile / plan.n_down * 16 * plan.tiles_across,
               stage.product.n, 0, stage.product.k, 16 * plan.tiles_across, plan.chunk, shared);
  }
  copy_async_commit();
}

// A normalised row as the left operand's row r.
template <int kWave, Number16 kType, int kGroups>
__device__ __forceinline__ void store_panel_row(const Stage& stage, int r,
                                                const RowValues<kWave, kGroups>& x,
                                                std::uint16_t* to) {
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int column = 4 * (g * kWave + wave_lane<kWave>());
    if (column >= stage.plan.chunk) continue;
    Words2 words = {};
    if (column < stage.product.k) {
      words.word[0] = number16_pair<kType>(x.group[g].value[0], x.group[g].value[1]);
      words.word[1] = number16_pair<kType>(x.group[g].value[2], x.group[g].value[3]);
    }
    *reinterpret_cast<Words2*>(to + r * (stage.plan.chunk + 8) + column) = words;
  }
}

// The left operand of a tile, normalised on the way: a wave takes kRowsAtOnce rows whose loads
// overlap.
template <int kWave, Number16 kType, int kGroups, int kRowsAtOnce>
__device__ __forceinline__ void normalise_rows(const Stage& stage, int row, std::uint16_t* to) {
  constexpr int kWaves = kThreads / kWave;
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  for (int first = wave; first < 16 * stage.plan.tiles_down; first += kRowsAtOnce * kWaves) {
    RowValues<kWave, kGroups> x[kRowsAtOnce];
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      // Rows past the end are computed as the last one; nothing of them is stored.
      const int r = row + first + i * kWaves;
      x[i] = load_row<kWave, kGroups>(stage.rows, r < stage.product.m ? r : stage.product.m - 1);
    }
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      normalise_row<kWave, kGroups>(stage.rows, x[i]);
      if (first + i * kWaves < 16 * stage.plan.tiles_down)
        store_panel_row<kWave, kType, kGroups>(stage, first + i * kWaves, x[i], to);
    }
  }
}

template <int kWave, Number16 kType>
__device__ __forceinline__ void normalise_panel(const Stage& stage, int row, std::uint16_t* to) {
  if (stage.product.k <= 12 * kWave) {
    normalise_rows<kWave, kType, 3, 2>(stage, row, to);
  } else {
    normalise_rows<kWave, kType, kRowGroups<kWave>, 1>(stage, row, to);
  }
}

// Adds what the other waves of a tile summed over their parts of k, in order.
template <int kWave>
__device__ __forceinline__ void add_shares(TileSum<kWave>& sum, const ProductPlan& plan, int share,
                                           int tile, float* room) {
  constexpr int kValues = TileSum<kWave>::kValues;
  const int n_tiles = plan.tiles_down * plan.tiles_across;
  const int lane = wave_lane<kWave>();
  if (share > 0 && share < plan.shares) {
    float* const mine = room + (share * n_tiles + tile) * 256;
#pragma unroll
    for (int e = 0; e < kValues; ++e) mine[e * kWave + lane] = sum.value[e];
  }
  __syncthreads();
  if (share > 0) return;
  for (int s = 1; s < plan.shares; ++s) {
    const float* const other = room + (s * n_tiles + tile) * 256;
#pragma unroll
    for (int e = 0; e < kValues; ++e) sum.value[e] += other[e * kWave + lane];
  }
}

template <int kWave, Number16 kType>
__device__ __forceinline__ void run_product(const Stage& stage, const Stage& next,
                                            std::uint16_t* shared, float* room) {
  const ProductPlan& plan = stage.plan;
  const GemmArgs& product = stage.product;
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  const int n_tiles = plan.tiles_down * plan.tiles_across;
  const int share = wave / n_tiles, tile_of_wave = wave % n_tiles;
  const int row = tile_of_wave % plan.tiles_down * 16, column = tile_of_wave / plan.tiles_down * 16;
  const int pitch = plan.chunk + 8;
  std::uint16_t* const right = shared;
  std::uint16_t* const left = shared + 16 * plan.tiles_across * pitch;
  const int n_block_tiles = plan.n_down * plan.n_across;
  bool has_weights = true;
  for (int tile = static_cast<int>(blockIdx.x); tile < n_block_tiles;
       tile += static_cast<int>(gridDim.x)) {
    const int first_row = tile % plan.n_down * 16 * plan.tiles_down;
    const int first_column = tile / plan.n_down * 16 * plan.tiles_across;
    TileSum<kWave> sum[1][1] = {};
    if (share == 0) sum[0][0] = first_sum<kWave>(product, first_row + row, first_column + column);
    for (int k = 0; k < product.k; k += plan.chunk) {
      if (!has_weights) {
        copy_panel(product.b, product.ldb, first_column, product.n, k, product.k,
                   16 * plan.tiles_across, plan.chunk, right);
      }
      has_weights = false;
      if (stage.normalises) {
        normalise_panel<kWave, kType>(stage, first_row, left);
      } else {
        copy_panel(product.a, product.lda, first_row, product.m, k, product.k, 16 * plan.tiles_down,
                   plan.chunk, left);
      }
      copy_async_commit();
      copy_async_wait<0>();
      __syncthreads();
      const int left_k = product.k - k < plan.chunk ? product.k - k : plan.chunk;
      const int n_steps = (left_k + 15) / 16;
      const int of_share = (n_steps + plan.shares - 1) / plan.shares;
      const int end = (share + 1) * of_share < n_steps ? (share + 1) * of_share : n_steps;
      if (share < plan.shares) {
        for (int step = share * of_share; step < end; ++step) {
          const auto x = load_shared_a<kWave>(left + row * pitch + 16 * step, pitch);
          const auto y = load_shared_b<kWave>(right + column * pitch + 16 * step, pitch);
          multiply_tile<kWave, kType>(sum[0][0], x, y);
        }
      }
      __syncthreads();
    }
    if (tile + static_cast<int>(gridDim.x) >= n_block_tiles) copy_first_weights(next, shared);
    add_shares<kWave>(sum[0][0], plan, share, tile_of_wave, room);
    if (share == 0) {
      finish_gemm<kWave, true>(sum, product, first_row + row, first_column + column);
    }
  }
  if (static_cast<int>(blockIdx.x) >= n_block_tiles) copy_first_weights(next, shared);
}

// What a wave of another group found: its part of the softmax.
template <class Shape>
__device__ __forceinline__ void store_state(const AttentionState<Shape>& state, float* to) {
  constexpr int kWave = Shape::kWave;
  const int lane = wave_lane<kWave>();
#pragma unroll
  for (int d = 0; d < Shape::kHead / 16; ++d) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      to[(d * TileSum<kWave>::kValues + e) * kWave + lane] = state.out[d].value[e];
    }
  }
  float* const rest = to + Shape::kHead * 16;
#pragma unroll
  for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot) {
    rest[2 * slot * kWave + lane] = state.top[slot];
    rest[(2 * slot + 1) * kWave + lane] = state.sum[slot];
  }
}

template <class Shape>
__device__ __forceinline__ void merge_state(AttentionState<Shape>& state, const float* from) {
  constexpr int kWave = Shape::kWave;
  constexpr int kSlots = kTileRowSlots<kWave>;
  const int lane = wave_lane<kWave>();
  const float* const rest = from + Shape::kHead * 16;
  float mine[kSlots], theirs[kSlots];
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot) {
    const float top = rest[2 * slot * kWave + lane];
    const float highest = fmaxf(state.top[slot], top);
    mine[slot] = fast_exp2(state.top[slot] - highest);
    theirs[slot] = fast_exp2(top - highest);
    state.sum[slot] =
        state.sum[slot] * mine[slot] + rest[(2 * slot + 1) * kWave + lane] * theirs[slot];
    state.top[slot] = highest;
  }
#pragma unroll
  for (int d = 0; d < Shape::kHead / 16; ++d) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
      const int slot = tile_row_slot<kWave>(e);
      state.out[d].value[e] = state.out[d].value[e] * mine[slot] +
                              from[(d * TileSum<kWave>::kValues + e) * kWave + lane] * theirs[slot];
    }
  }
}

template <class Shape>
__device__ __forceinline__ void run_attention(const AttentionArgs& a, const Stage& next,
                                              std::uint16_t* shared) {
  constexpr int kGroups = kThreads / Shape::kThreads;
  constexpr int kStateFloats = Shape::kHead * 16 + 2 * kTileRowSlots<Shape::kWave> * Shape::kWave;
  const int wave = static_cast<int>(threadIdx.x) / Shape::kWave;
  const int group = wave / Shape::kWaves, wave_in_group = wave % Shape::kWaves;
  std::uint16_t* const keys = shared + Shape::kQueryElements;
  auto* const states = reinterpret_cast<float*>(shared);
  constexpr int kPieces = kQueryRows / Shape::kRows;
  const int n_items = *a.n_tiles * a.n_heads * kPieces;
  for (int item = static_cast<int>(blockIdx.x); item < n_items;
       item += static_cast<int>(gridDim.x)) {
    QueryTile tile = a.tiles[item / (a.n_heads * kPieces)];
    tile.first += item / a.n_heads % kPieces * Shape::kRows;
    if (tile.first >= tile.length) continue;
    const int head = item % a.n_heads;
    const std::int64_t column = head * a.head_stride;
    copy_head<Shape, Shape::kRows, kThreads>(a.q, tile.begin, tile.first, tile.length, column,
                                             a.head, shared);
    for (int key = 0; key < tile.length; key += Shape::kKeys) {
      std::uint16_t* const step = keys + key / Shape::kKeys * Shape::kStepElements;
      copy_head<Shape, Shape::kKeys, kThreads>(a.k, tile.begin, key, tile.length, column, a.head,
                                               step);
      copy_head<Shape, Shape::kKeys, kThreads>(a.v, tile.begin, key, tile.length, column, a.head,
                                               step + Shape::kKeyElements);
    }
    copy_async_commit();
    copy_async_wait<0>();
    __syncthreads();
    AttentionState<Shape> state[1];
    load_queries<Shape>(shared, 16 * wave_in_group, state[0]);
    for (int key = group * Shape::kKeys; key < tile.length; key += kGroups * Shape::kKeys) {
      const std::uint16_t* const step = keys + key / Shape::kKeys * Shape::kStepElements;
      Scores<Shape> scores[1];
      multiply_keys<Shape>(state, step, scores);
      scale_scores<Shape>(a, tile, head, 16 * wave_in_group, key, scores[0]);
      weigh_scores<Shape>(state[0], scores[0]);
      multiply_values<Shape>(state, step + Shape::kKeyElements, scores);
    }
    __syncthreads();  // the keys have been read: their room is the states' now
    if (group > 0) store_state<Shape>(state[0], states + (wave - Shape::kWaves) * kStateFloats);
    __syncthreads();
    if (group == 0) {
      for (int other = 1; other < kGroups; ++other) {
        merge_state<Shape>(state[0], states + ((other - 1) * Shape::kWaves + wave) * kStateFloats);
      }
      store_attention<Shape>(a, tile, head, 16 * wave_in_group, state[0]);
    }
    __syncthreads();
  }
  copy_first_weights(next, shared);
}

template <int kWave>
__device__ __forceinline__ void run_rows(const Stage& stage, const Stage& next,
                                         std::uint16_t* shared) {
  copy_first_weights(next, shared);
  const std::int64_t n_waves = std::int64_t{gridDim.x} * (kThreads / kWave);
  for (std::int64_t row = (blockIdx.x * std::int64_t{kThreads} + threadIdx.x) / kWave;
       row < stage.rows.n_rows; row += n_waves) {
    layer_norm_row<kWave, kRowGroups<kWave>>(stage.rows, row);
  }
}

// Steps are read word by word into shared memory; they are padded to whole pieces there.
constexpr int kStageWords = static_cast<int>(sizeof(Stage) / sizeof(std::uint32_t));
constexpr int kStagePieces = (kStageWords + 3) / 4;

__device__ __forceinline__ void load_stage(const Stage* stage, Bytes16* to) {
  const auto* const from = reinterpret_cast<const std::uint32_t*>(stage);
  for (int i = static_cast<int>(threadIdx.x); i < kStageWords; i += kThreads) {
    to[i / 4].word[i % 4] = from[i];
  }
}

constexpr std::size_t kRoomBytes = kProgramThreads / 32 * 1024;
static_assert(2 * sizeof(Bytes16) * kStagePieces <= kProgramStageBytes);

template <class Shape>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads, 1) void program_kernel(const Stage* stages, int first,
                                                                 int last, GridBarrier* barrier) {
  BIOGPU_DYNAMIC_SHARED(Bytes16, dynamic);  // two steps, room for sums, operands
  Bytes16* const slots = dynamic;
  auto* const room = reinterpret_cast<float*>(dynamic + 2 * kStagePieces);
  auto* const shared =
      reinterpret_cast<std::uint16_t*>(dynamic + 2 * kStagePieces + kRoomBytes / sizeof(Bytes16));
  const auto slot = [&](int s) -> const Stage& {
    return *reinterpret_cast<const Stage*>(slots + s % 2 * kStagePieces);
  };
  load_stage(stages + first, slots + first % 2 * kStagePieces);
  __syncthreads();
  copy_first_weights(slot(first), shared);
  for (int s = first; s < last; ++s) {
    // Behind the last stage any one does: its weights are loaded and not used.
    load_stage(stages + (s + 1 < last ? s + 1 : s), slots + (s + 1) % 2 * kStagePieces);
    __syncthreads();
    const Stage& stage = slot(s);
    const Stage& next = slot(s + 1);
    if (stage.kind == StageKind::product) {
      run_product<Shape::kWave, Shape::kType>(stage, next, shared, room);
    } else if (stage.kind == StageKind::attention) {
      run_attention<Shape>(stage.attention, next, shared);
    } else {
      run_rows<Shape::kWave>(stage, next, shared);
    }
    if (s + 1 < last) grid_barrier(barrier);
  }
  copy_async_wait<0>();
}

}  // namespace

const bool kProgramRunsAtOnce = kHasGridBarrier;
static_assert(sizeof(GridBarrier) == sizeof(std::uint64_t));

void launch_program(const Stage* stages, int first, int last, int head, Number16 type,
                    std::size_t shared_bytes, GridBarrier* barrier, Stream& stream) {
  const auto run = [&](auto kernel) {
    stream.launch_shared(kernel, static_cast<std::size_t>(stream.n_multiprocessors()), kThreads,
                         shared_bytes, stages, first, last, barrier);
  };
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    const auto run_type = [&](auto number) {
      constexpr Number16 kType = decltype(number)::value;
      if (head == 16) return run(program_kernel<AttentionShape<wave, kType, 16, 1>>);
      if (head == 32) return run(program_kernel<AttentionShape<wave, kType, 32, 1>>);
      run(program_kernel<AttentionShape<wave, kType, 64, 1>>);
    };
    if (type == Number16::fp16) return run_type(std::integral_constant<Number16, Number16::fp16>());
    run_type(std::integral_constant<Number16, Number16::bf16>());
  });
}

}  // namespace biogpu::gpu::nn
