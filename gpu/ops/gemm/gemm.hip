// out = epilogue(a b^T) on the matrix cores: the product of every model, and the fallback where no
// vendor's library is found.
//
// Shapes   see gemm.hpp; both operands row-major with the summed index fastest.
// Mapping  a block computes a tile of out; its waves divide it; slices of kDepth columns of a and b
//          pass through shared memory, kStages of them under way. Blocks next to each other share
//          rows of b (groups of kGroupRows row tiles), so that L2 serves them.
// Traffic  2 k (m ceil(n / kColumns) + n ceil(m / kRows)) bytes read, most of them from L2; m n
//          stored once. 2 m n k operations: compute bound for the large tile from k = 256 or so.
// Result   fp32 sums over k in steps of 16, ascending, or of parts of 64: independent of m, the
//          tile and the grid.
// Source   own; the tiling of Goto and van de Geijn 2008, doi 10.1145/1356052.1356053.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/gemm/gemm.hpp"

#include "gpu/ops/gemm/gemm_epilogue.hpp"
#include "gpu/ops/gemm/gemm_runner.hpp"
#include "gpu/ops/gemm/gemm_tile.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::gpu::ops {
namespace {

template <int kWave, Number16 kType, class Tile, gemm_tile::SumParts kParts>
__global__ __launch_bounds__(kWave* gemm_tile::kWaves<Tile>) void gemm_kernel(GemmArgs a) {
  using namespace gemm_tile;
  constexpr int kThreads = kWave * kWaves<Tile>;
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  const Place tile = place_of<Tile>(a.m, a.n, static_cast<int>(blockIdx.x));
  WaveSums<kWave, Tile> sum = {};
  multiply_slices<kWave, kType, Tile, kParts>(sum, a.k, a.sum_scale, shared, [&](int s) {
    if (s * kDepth >= a.k) return;
    std::uint16_t* const to = slice_of<Tile>(shared, s);
    copy_slice<kRows<Tile>, kThreads>(a.a, a.lda, tile.row, a.m, s * kDepth, a.k, to);
    copy_slice<kColumns<Tile>, kThreads>(a.b, a.ldb, tile.column, a.n, s * kDepth, a.k,
                                         to + kRows<Tile> * kPitch);
  });
  const Place wave = place_of_wave<kWave, Tile>();
  finish_gemm<kWave>(sum, a, tile.row + wave.row, tile.column + wave.column);
}

template <int kWave, Number16 kType>
void launch_for(const GemmArgs& a, int columns, Stream& stream) {
  gemm_tile::with_columns(columns, [&](auto tile) {
    using Tile = decltype(tile);
    gemm_tile::with_parts(a.in_parts, [&](auto parts) {
      stream.launch_shared(gemm_kernel<kWave, kType, Tile, decltype(parts)::value>,
                           static_cast<std::size_t>(gemm_tile::count_tiles<Tile>(a.m, a.n)),
                           kWave * gemm_tile::kWaves<Tile>, gemm_tile::kSharedBytes<Tile>, a);
    });
  });
}

}  // namespace

void launch_gemm(const GemmArgs& a, Number16 type, tensor::TileTable& tiles, Stream& stream) {
  if (a.m == 0 || a.n == 0) return;
  const int columns = tiles.columns("gemm", name_of_operands(a, type), {a.m, a.n, a.k, 1},
                                    gemm_tile::columns_by_rule(a.m, a.n, stream));
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    type == Number16::fp16 ? launch_for<wave, Number16::fp16>(a, columns, stream)
                           : launch_for<wave, Number16::bf16>(a, columns, stream);
  });
}

const char* name_of_operands(const GemmArgs& args, Number16 type) {
  if (args.in_parts) return "fp32";
  return type == Number16::fp16 ? "fp16" : "bf16";
}

void gemm(Device& device, const biogpu::ops::Gemm& op) {
  GemmEpilogue epilogue;
  epilogue.activation = op.activation;
  epilogue.residual = rows_of(op.residual);
  device.state<GemmRunner>().multiply(rows_of(op.x), op.x.shape[0], *op.linear, epilogue,
                                      rows_of(op.out));
}

}  // namespace biogpu::gpu::ops
