// out = epilogue(a b^T) on the matrix cores: the product of every model, and the fallback where no
// vendor's library is found.
//
// Shapes   see gemm.hpp; both operands row-major with the summed index fastest.
// Mapping  a block computes a tile of out; its waves divide it; slices of kDepth columns of a and b
//          pass through shared memory, kStages of them under way. Blocks next to each other share
//          rows of b (groups of kGroupRows row tiles), so that L2 serves them.
// Traffic  2 k (m ceil(n / kColumns) + n ceil(m / kRows)) bytes read, most of them from L2; m n
//          stored once. 2 m n k operations: compute bound for the large tile from k = 256 or so.
// Result   fp32 sums over k in steps of 16, ascending: independent of m, of the tile and of the
// grid. Source   own; the tiling is that of Goto and van de Geijn 2008,
// doi 10.1145/1356052.1356053. Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/gemm.hpp"

#include "gpu/ops/gemm_epilogue.hpp"
#include "gpu/ops/gemm_runner.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/ops/gemm.hpp"

namespace biogpu::gpu::ops {
namespace {

// Where copies are asynchronous, deeper slices and more of them hide the latency; elsewhere shared
// memory is scarce (64 KB on AMD).
constexpr int kDepth = kHasAsyncCopies ? 64 : 32;
constexpr int kStages = kHasAsyncCopies ? 3 : 2;
constexpr int kPitch = kDepth + 8;  // 16 bytes more: reads of 8 rows meet no bank twice
constexpr int kGroupRows = 8;

// A tile of out and how waves divide it: each has kRowTiles x kColumnTiles tiles of 16 x 16.
struct LargeTile {
  static constexpr int kWavesDown = 4, kWavesAcross = 2, kRowTiles = 2, kColumnTiles = 4;
};
struct SmallTile {
  static constexpr int kWavesDown = 4, kWavesAcross = 1, kRowTiles = 1, kColumnTiles = 4;
};
template <class Tile>
inline constexpr int kRows = 16 * Tile::kWavesDown* Tile::kRowTiles;
template <class Tile>
inline constexpr int kColumns = 16 * Tile::kWavesAcross* Tile::kColumnTiles;
template <class Tile>
inline constexpr int kWaves = Tile::kWavesDown* Tile::kWavesAcross;
template <class Tile>
inline constexpr int kSliceElements = (kRows<Tile> + kColumns<Tile>)*kPitch;

struct TilePlace {
  int row, column;
};

// Tiles in groups of kGroupRows row tiles; inside a group down first.
template <class Tile>
__device__ __forceinline__ TilePlace place_of(const GemmArgs& a, int block) {
  const int n_down = ceil_div(a.m, kRows<Tile>), n_across = ceil_div(a.n, kColumns<Tile>);
  const int group = block / (kGroupRows * n_across);
  const int first = group * kGroupRows;
  const int height = n_down - first < kGroupRows ? n_down - first : kGroupRows;
  const int in_group = block - group * kGroupRows * n_across;
  return {(first + in_group % height) * kRows<Tile>, in_group / height * kColumns<Tile>};
}

// Columns [k, k + kDepth) of kCount rows to shared memory; zeros beyond the matrix.
template <int kCount, int kThreads>
__device__ __forceinline__ void copy_slice(const std::uint16_t* from, std::int64_t stride, int row,
                                           int n_rows, int k, int n_k, std::uint16_t* to) {
  constexpr int kPieces = kDepth / 8;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kCount * kPieces; i += kThreads) {
    const int r = i / kPieces, c = i % kPieces * 8;
    const bool valid = row + r < n_rows && k + c < n_k;
    const std::int64_t at = valid ? (row + r) * stride + k + c : 0;
    copy_async16(to + r * kPitch + c, from + at, valid);
  }
}

template <int kWave, class Tile>
__device__ __forceinline__ void copy_slices(const GemmArgs& a, TilePlace tile, int slice,
                                            std::uint16_t* shared) {
  constexpr int kThreads = kWave * kWaves<Tile>;
  std::uint16_t* const to = shared + slice % kStages * kSliceElements<Tile>;
  if (slice * kDepth < a.k) {
    copy_slice<kRows<Tile>, kThreads>(a.a, a.lda, tile.row, a.m, slice * kDepth, a.k, to);
    copy_slice<kColumns<Tile>, kThreads>(a.b, a.ldb, tile.column, a.n, slice * kDepth, a.k,
                                         to + kRows<Tile> * kPitch);
  }
  copy_async_commit();
}

template <int kWave, Number16 kType, class Tile>
__global__ __launch_bounds__(kWave* kWaves<Tile>) void gemm_kernel(GemmArgs a) {
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  const TilePlace tile = place_of<Tile>(a, static_cast<int>(blockIdx.x));
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  const int row = wave % Tile::kWavesDown * 16 * Tile::kRowTiles;
  const int column = wave / Tile::kWavesDown * 16 * Tile::kColumnTiles;
  TileSum<kWave> sum[Tile::kRowTiles][Tile::kColumnTiles] = {};
  const int n_slices = ceil_div(a.k, kDepth);
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy_slices<kWave, Tile>(a, tile, s, shared);
  for (int s = 0; s < n_slices; ++s) {
    copy_async_wait<kStages - 2>();
    __syncthreads();  // slice s has come, and slice s - 1 has been read by all
    copy_slices<kWave, Tile>(a, tile, s + kStages - 1, shared);
    const std::uint16_t* const mine = shared + s % kStages * kSliceElements<Tile>;
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      TileOperand<kWave> x[Tile::kRowTiles];
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) {
        x[i] = load_shared_a<kWave>(mine + (row + 16 * i) * kPitch + k, kPitch);
      }
#pragma unroll
      for (int j = 0; j < Tile::kColumnTiles; ++j) {
        const TileOperand<kWave> y =
            load_shared_b<kWave>(mine + (kRows<Tile> + column + 16 * j) * kPitch + k, kPitch);
#pragma unroll
        for (int i = 0; i < Tile::kRowTiles; ++i) {
          multiply_tile<kWave, kType>(sum[i][j], x[i], y);
        }
      }
    }
  }
  finish_gemm<kWave>(sum, a, tile.row + row, tile.column + column);
}

template <int kWave, Number16 kType, class Tile>
void launch_tiles(const GemmArgs& a, Stream& stream) {
  const auto n_blocks = static_cast<std::size_t>(ceil_div(a.m, kRows<Tile>)) *
                        static_cast<std::size_t>(ceil_div(a.n, kColumns<Tile>));
  stream.launch_shared(gemm_kernel<kWave, kType, Tile>, n_blocks, kWave * kWaves<Tile>,
                       sizeof(std::uint16_t) * kStages * kSliceElements<Tile>, a);
}

template <int kWave, Number16 kType>
void launch_for(const GemmArgs& a, Stream& stream) {
  // The large tile where it gives every multiprocessor at least one.
  const std::int64_t n_large =
      std::int64_t{ceil_div(a.m, kRows<LargeTile>)} * ceil_div(a.n, kColumns<LargeTile>);
  if (n_large >= stream.n_multiprocessors()) {
    launch_tiles<kWave, kType, LargeTile>(a, stream);
  } else {
    launch_tiles<kWave, kType, SmallTile>(a, stream);
  }
}

}  // namespace

void launch_gemm(const GemmArgs& a, Number16 type, Stream& stream) {
  if (a.m == 0 || a.n == 0) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    type == Number16::fp16 ? launch_for<wave, Number16::fp16>(a, stream)
                           : launch_for<wave, Number16::bf16>(a, stream);
  });
}

void gemm(Device& device, const biogpu::ops::Gemm& op) {
  GemmEpilogue epilogue;
  epilogue.gelu = op.activation == biogpu::ops::Activation::gelu_erf;
  epilogue.residual = rows_of(op.residual);
  device.state<GemmRunner>().multiply(rows_of(op.x), op.x.shape[0], *op.linear, epilogue,
                                      rows_of(op.out));
}

}  // namespace biogpu::gpu::ops
