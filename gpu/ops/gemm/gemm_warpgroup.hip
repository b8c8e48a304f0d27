// out = epilogue(a b^T) with Hopper's warpgroup products: large products there.
//
// Shapes   see gemm.hpp.
// Mapping  one block a multiprocessor takes tiles of 128 rows in turn, with 192, 160 or 128
//          columns. One wave copies slices of 64 columns of both operands, a ring of stages
//          ahead; two warpgroups compute a tile each in turns: one stores its tile while the other
//          one's products fill the matrix cores. Results leave through shared memory, residuals are
//          added where they lie, in L2.
// Traffic  as gemm.hip: with 192 columns 2 * 128 * 192 * 64 operations for 28 KB from L2, as two
//          blocks of a cluster share operands. Compute bound, at the clock that the device's power
//          allows.
// Result   fp32 sums over k in steps of 16, ascending, or of parts of 64: independent of m and of
//          the grid, and the bytes of gemm.hip where operands are fp32. To a
//          residual of 16 bits the product is added rounded to 16 bits; beyond the range of fp16
//          the sum is infinite.
// Limits   sm_90a; see gemm_warpgroup.hpp.
// Source   own.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/gemm/gemm_warpgroup.hpp"

#include "gpu/ops/gemm/gemm_warpgroup_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

bool aligned(const Rows& rows) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(rows.type));
  return reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 && rows.stride * bytes % 16 == 0;
}

bool suits(const GemmArgs& a, Element operand, int n_multiprocessors) {
  const GemmEpilogue& epilogue = a.epilogue;
  const bool wide = a.out.type == Element::f32;
  if (!wide && (a.out.type != operand || a.in_parts)) return false;
  const bool adds = epilogue.residual.data != nullptr;
  const bool activates = epilogue.activation != Activation::none;
  if ((wide || adds) && (activates || epilogue.cos_sin != nullptr)) return false;
  if (adds && (epilogue.residual.data != a.out.data || epilogue.residual.stride != a.out.stride))
    return false;
  if (epilogue.cos_sin != nullptr && (activates || !can_rotate_in_gemm(epilogue.head)))
    return false;
  if (ceil_div(a.m, 128) * ceil_div(a.n, 128) < n_multiprocessors) return false;
  const auto whole = [](const std::uint16_t* data, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % 8 == 0;
  };
  return a.k >= 64 && a.n % 8 == 0 && whole(a.a, a.lda) && whole(a.b, a.ldb) && aligned(a.out);
}

template <Number16 kType>
struct Tiles {
  using Wide = WarpgroupTile<kType, true, 128, false, 5>;
  using InParts = WarpgroupTile<kType, true, 128, false, 5, true>;
  using Wide160 = WarpgroupTile<kType, true, kWideTileColumns, true, 5>;
  using Added = WarpgroupTile<kType, false, 128, false, 5>;
  using Columns160 = WarpgroupTile<kType, false, 160, true, 5>;
  using Columns192 = WarpgroupTile<kType, false, 192, false, 4>;
};

// Columns that the block with the most tiles computes.
template <class Tile>
int max_columns(const GemmArgs& a, const Stream& stream) {
  const int n_clusters = stream.n_multiprocessors() / Tile::kCluster;
  return ceil_div(TileOrder<Tile>(a.m, a.n).size(), n_clusters) * Tile::kColumns;
}

// What tiles of 160 columns must save by count to be worth more bytes from L2 than those of 192
// need: on an H200 passes of ESM-2 3B and 650M, in which they save 1 % and 5 %, are a little
// slower, one behind the other. More was not measured.
constexpr double kWorthSaving = 1.0 / 16;

// Wider tiles may leave more multiprocessors without a last one. No head that is rotated lies
// across two tiles. Those of fp32 results are as wide as divides the matrix; matrices that are
// added to are narrow.
template <bool kCompiled, Number16 kType>
bool launch_type(const GemmArgs& a, tensor::TileTable& tiles, Stream& stream) {
  if constexpr (kCompiled) {
    using T = Tiles<kType>;
    if (a.in_parts) return launch_warpgroup_tiles<typename T::InParts>(a, stream);
    if (a.out.type == Element::f32) {
      return a.n % kWideTileColumns == 0 ? launch_warpgroup_tiles<typename T::Wide160>(a, stream)
                                         : launch_warpgroup_tiles<typename T::Wide>(a, stream);
    }
    if (a.epilogue.residual.data != nullptr)
      return launch_warpgroup_tiles<typename T::Added>(a, stream);
    if (a.epilogue.activation != Activation::none && a.epilogue.activation != Activation::gelu_erf)
      return launch_warpgroup_tiles<typename T::Columns160>(a, stream);
    if (a.epilogue.cos_sin != nullptr)
      return launch_warpgroup_tiles<typename T::Columns192>(a, stream);
    const int with_192 = max_columns<typename T::Columns192>(a, stream);
    const int with_160 = max_columns<typename T::Columns160>(a, stream);
    const int columns =
        tiles.columns("gemm warpgroup", name_of_operands(a, kType), {a.m, a.n, a.k, 1},
                      with_160 < (1 - kWorthSaving) * with_192 ? 160 : 192);
    return columns == 160 ? launch_warpgroup_tiles<typename T::Columns160>(a, stream)
                          : launch_warpgroup_tiles<typename T::Columns192>(a, stream);
  }
  return false;
}

}  // namespace

bool launch_gemm_warpgroup(const GemmArgs& a, Number16 type, tensor::TileTable& tiles,
                           Stream& stream) {
  const Element operand = type == Number16::fp16 ? Element::fp16 : Element::bf16;
  if (!has_warpgroups() || !suits(a, operand, stream.n_multiprocessors())) return false;
  return type == Number16::fp16 ? launch_type<kHasWarpgroups, Number16::fp16>(a, tiles, stream)
                                : launch_type<kHasWarpgroups, Number16::bf16>(a, tiles, stream);
}

}  // namespace biogpu::gpu::ops
