// out = epilogue(a b^T) with Hopper's warpgroup products: large products there.
//
// Shapes   see gemm.hpp.
// Mapping  one block a multiprocessor takes tiles of 128 x kColumns in turn. One thread copies
// slices
//          of 64 columns of both operands, kStages of them ahead; two warpgroups compute 64 rows of
//          the tile each, sums in registers. While they store a tile the next one's slices come.
// Traffic  as gemm.hip; 2 * 128 * kColumns * 64 operations for 128 (128 + kColumns) bytes from L2.
// Result   fp32 sums over k in steps of 16, ascending, on top of the residual where there is one.
// Limits   sm_90a; k, lda and ldb multiples of 8, n of 2.
// Source   own.
// Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/gemm_warpgroup.hpp"

#include "gpu/nn/element_access.hpp"
#include "gpu/nn/gelu.hpp"
#include "gpu/prim/warpgroup.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::nn {
namespace {

constexpr int kRows = 128;
constexpr int kDepth = 64;
constexpr int kGroupRows = 16;
constexpr int kThreads = 3 * kWarpgroup;

template <int kColumns>
inline constexpr int kStages = kColumns > 192 ? 4 : 5;
template <int kColumns>
inline constexpr int kStageElements = (kRows + kColumns) * kDepth;
// 1024 bytes to align the operands, and the barriers.
template <int kColumns>
inline constexpr std::size_t kSharedBytes =
    2 * kStages<kColumns>* kStageElements<kColumns> + 1024 + 256;

struct TilePlace {
  int row, column;
};

// Tiles in groups of kGroupRows row tiles; inside a group down first.
template <int kColumns>
__device__ __forceinline__ TilePlace place_of(const GemmArgs& a, int tile) {
  const int n_down = ceil_div(a.m, kRows), n_across = ceil_div(a.n, kColumns);
  const int group = tile / (kGroupRows * n_across);
  const int first = group * kGroupRows;
  const int height = n_down - first < kGroupRows ? n_down - first : kGroupRows;
  const int in_group = tile - group * kGroupRows * n_across;
  return {(first + in_group % height) * kRows, in_group / height * kColumns};
}

template <int kColumns>
struct Shared {
  std::uint16_t* operands;
  SharedBarrier* full;
  SharedBarrier* empty;
  __device__ __forceinline__ std::uint16_t* a(int stage) const {
    return operands + stage * kStageElements<kColumns>;
  }
  __device__ __forceinline__ std::uint16_t* b(int stage) const { return a(stage) + kRows * kDepth; }
};

// A place in the ring of stages.
struct Turn {
  int stage = 0, parity = 0;
  template <int kCount>
  __device__ __forceinline__ void advance() {
    if (++stage == kCount) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <int kColumns>
__device__ __forceinline__ void copy_tiles(const GemmArgs& a, const TensorMap* a_map,
                                           const TensorMap* b_map, const Shared<kColumns>& shared,
                                           int n_tiles) {
  Turn turn;
  const int n_slices = ceil_div(a.k, kDepth);
  for (int tile = static_cast<int>(blockIdx.x); tile < n_tiles;
       tile += static_cast<int>(gridDim.x)) {
    const TilePlace place = place_of<kColumns>(a, tile);
    for (int s = 0; s < n_slices; ++s) {
      // The phase before a barrier's first counts as over: the first round does not wait.
      barrier_wait(shared.empty + turn.stage, turn.parity ^ 1);
      barrier_expect(shared.full + turn.stage, 2 * kStageElements<kColumns>);
      copy_box(shared.a(turn.stage), a_map, place.row, s * kDepth, shared.full + turn.stage);
      copy_box(shared.b(turn.stage), b_map, place.column, s * kDepth, shared.full + turn.stage);
      turn.advance<kStages<kColumns>>();
    }
  }
}

// What one lane holds: rows row and row + 8, columns column + 8 j and the next.
struct LanePlace {
  int row, column;
};

// Sums begin with the residual, whose loads are all under way at once, or with zeros.
template <int kColumns>
__device__ __forceinline__ void begin_sums(const GemmArgs& a, LanePlace lane, float* d) {
  const auto* const from = static_cast<const float*>(a.epilogue.residual.data);
#pragma unroll
  for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = lane.row + 8 * half, c = lane.column + 8 * j;
      struct alignas(8) Pair {
        float x, y;
      } pair = {0, 0};
      if (from != nullptr && r < a.m && c < a.n)
        pair = *reinterpret_cast<const Pair*>(from + r * a.epilogue.residual.stride + c);
      d[4 * j + 2 * half] = pair.x;
      d[4 * j + 2 * half + 1] = pair.y;
    }
  }
}

// kApart: groups of 8 columns from a number to its partner.
template <int kColumns, int kApart>
__device__ __forceinline__ void rotate(const GemmArgs& a, LanePlace lane, float* d) {
  constexpr int kHalf = 8 * kApart;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int r = lane.row + 8 * half;
    if (r >= a.m) continue;
    const float* const of_row =
        a.epilogue.cos_sin + std::int64_t{a.epilogue.positions[r]} * 2 * kHalf;
#pragma unroll
    for (int j = 0; j + kApart < kColumns / 8; ++j) {
      if (j / kApart % 2 != 0 || lane.column + 8 * j >= a.epilogue.n_rotated) continue;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float* const angles = of_row + (lane.column + 8 * j + e) % kHalf;
        float& x = d[4 * j + 2 * half + e];
        float& y = d[4 * (j + kApart) + 2 * half + e];
        const float turned = x * angles[0] - y * angles[kHalf];
        y = y * angles[0] + x * angles[kHalf];
        x = turned;
      }
    }
  }
}

template <int kColumns>
__device__ __forceinline__ void rotate_heads(const GemmArgs& a, LanePlace lane, float* d) {
  if (a.epilogue.head == 64) return rotate<kColumns, 4>(a, lane, d);
  if (a.epilogue.head == 32) return rotate<kColumns, 2>(a, lane, d);
  if (a.epilogue.head == 16) return rotate<kColumns, 1>(a, lane, d);
  if constexpr (kColumns % 128 == 0) rotate<kColumns, 8>(a, lane, d);
}

template <int kColumns, Number16 kType>
__device__ __forceinline__ void store_tile(const GemmArgs& a, LanePlace lane, float* d) {
#pragma unroll
  for (int j = 0; j < kColumns / 8; ++j) {
    const int c = lane.column + 8 * j;
    if (a.epilogue.bias == nullptr || c >= a.n) continue;
    const float low = a.epilogue.bias[c], high = a.epilogue.bias[c + 1];
    d[4 * j] += low;
    d[4 * j + 1] += high;
    d[4 * j + 2] += low;
    d[4 * j + 3] += high;
  }
  if (a.epilogue.cos_sin != nullptr) rotate_heads<kColumns>(a, lane, d);
#pragma unroll
  for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = lane.row + 8 * half, c = lane.column + 8 * j;
      if (r >= a.m || c >= a.n) continue;
      float x = d[4 * j + 2 * half], y = d[4 * j + 2 * half + 1];
      if (a.epilogue.gelu) {
        x = gelu(x);
        y = gelu(y);
      }
      const std::int64_t at = r * a.out.stride + c;
      if (a.out.type == Element::f32) {
        struct alignas(8) Pair {
          float x, y;
        };
        *reinterpret_cast<Pair*>(static_cast<float*>(a.out.data) + at) = {x, y};
      } else {
        *reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(a.out.data) + at) =
            number16_pair<kType>(x, y);
      }
    }
  }
}

template <int kColumns, Number16 kType>
__device__ __forceinline__ void multiply_tiles(const GemmArgs& a, const Shared<kColumns>& shared,
                                               int n_tiles) {
  const int group = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  const int n_slices = ceil_div(a.k, kDepth);
  float d[kColumns / 2];
  Turn turn;
  for (int tile = static_cast<int>(blockIdx.x); tile < n_tiles;
       tile += static_cast<int>(gridDim.x)) {
    const TilePlace place = place_of<kColumns>(a, tile);
    const LanePlace lane = {place.row + 64 * group + thread / 32 * 16 + thread % 32 / 4,
                            place.column + 2 * (thread % 4)};
    begin_sums<kColumns>(a, lane, d);
    int before = 0;
    for (int s = 0; s < n_slices; ++s) {
      barrier_wait(shared.full + turn.stage, turn.parity);
      const std::uint16_t* const left = shared.a(turn.stage) + group * 64 * kDepth;
      const std::uint16_t* const right = shared.b(turn.stage);
      products_begin();
#pragma unroll
      for (int k = 0; k < kDepth; k += 16) {
        WarpgroupProduct<kColumns, kType>::run(d, operand_place(left + k),
                                               operand_place(right + k));
      }
      products_commit();
      // The slice before has been read once at most this one is left.
      products_wait<1>();
      if (s > 0 && thread == 0) barrier_arrive(shared.empty + before);
      before = turn.stage;
      turn.advance<kStages<kColumns>>();
    }
    products_wait<0>();
    if (thread == 0) barrier_arrive(shared.empty + before);
    store_tile<kColumns, kType>(a, lane, d);
  }
}

template <int kColumns, Number16 kType>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads, 1) void gemm_warpgroup_kernel(
    GemmArgs a, const BIOGPU_GRID_CONSTANT TensorMap a_map,
    const BIOGPU_GRID_CONSTANT TensorMap b_map) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const std::uint32_t past = shared_address(dynamic) % 1024;
  std::uint8_t* const aligned = dynamic + (past == 0 ? 0 : 1024 - past);
  Shared<kColumns> shared;
  shared.operands = reinterpret_cast<std::uint16_t*>(aligned);
  shared.full =
      reinterpret_cast<SharedBarrier*>(aligned + 2 * kStages<kColumns> * kStageElements<kColumns>);
  shared.empty = shared.full + kStages<kColumns>;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages<kColumns>; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, 2);
    }
    barrier_init_done();
  }
  __syncthreads();
  const int n_tiles = ceil_div(a.m, kRows) * ceil_div(a.n, kColumns);
  if (threadIdx.x < kWarpgroup) {
    give_registers<40>();
    if (threadIdx.x == 0) copy_tiles<kColumns>(a, &a_map, &b_map, shared, n_tiles);
  } else {
    take_registers<232>();
    multiply_tiles<kColumns, kType>(a, shared, n_tiles);
  }
}

template <int kColumns, Number16 kType>
bool launch_columns(const GemmArgs& a, Stream& stream) {
  TensorMap a_map, b_map;
  if (!make_tensor_map(&a_map, a.a, a.m, a.k, a.lda, kRows) ||
      !make_tensor_map(&b_map, a.b, a.n, a.k, a.ldb, kColumns))
    return false;
  const int n_tiles = ceil_div(a.m, kRows) * ceil_div(a.n, kColumns);
  const int n_blocks = n_tiles < stream.n_multiprocessors() ? n_tiles : stream.n_multiprocessors();
  stream.launch_shared(gemm_warpgroup_kernel<kColumns, kType>, static_cast<std::size_t>(n_blocks),
                       kThreads, kSharedBytes<kColumns>, a, a_map, b_map);
  return true;
}

// Time of a product in units of one column's work: rounds of tiles, and what narrow tiles lose.
double cost_of(const GemmArgs& a, int columns, double loss, int n_multiprocessors) {
  const int n_tiles = ceil_div(a.m, kRows) * ceil_div(a.n, columns);
  return ceil_div(n_tiles, n_multiprocessors) * columns * loss;
}

template <Number16 kType>
bool launch_type(const GemmArgs& a, Stream& stream) {
  const int n = stream.n_multiprocessors();
  const int head = a.epilogue.cos_sin != nullptr ? a.epilogue.head : 1;
  const double wide = cost_of(a, 256, 1.0, n), middle = cost_of(a, 192, 1.05, n),
               narrow = cost_of(a, 160, 1.1, n);
  if (160 % head == 0 && narrow < middle && narrow < wide)
    return launch_columns<160, kType>(a, stream);
  if (192 % head == 0 && middle < wide) return launch_columns<192, kType>(a, stream);
  return launch_columns<256, kType>(a, stream);
}

bool suits(const GemmArgs& a) {
  const auto aligned = [](const void* data, std::int64_t stride, std::int64_t bytes,
                          std::int64_t to) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(to) == 0 &&
           stride * bytes % to == 0;
  };
  const auto out_bytes = static_cast<std::int64_t>(bytes_of(a.out.type));
  const int head = a.epilogue.cos_sin != nullptr ? a.epilogue.head : 16;
  return aligned(a.a, a.lda, 2, 16) && aligned(a.b, a.ldb, 2, 16) && a.n % 2 == 0 &&
         aligned(a.out.data, a.out.stride, out_bytes, 2 * out_bytes) &&
         aligned(a.epilogue.residual.data, a.epilogue.residual.stride, 4, 8) &&
         (head == 16 || head == 32 || head == 64 || head == 128);
}

}  // namespace

bool launch_gemm_warpgroup(const GemmArgs& a, Number16 type, Stream& stream) {
  static const bool kAvailable = has_warpgroups();
  if (!kAvailable || !suits(a)) return false;
  return type == Number16::fp16 ? launch_type<Number16::fp16>(a, stream)
                                : launch_type<Number16::bf16>(a, stream);
}

}  // namespace biogpu::gpu::nn
