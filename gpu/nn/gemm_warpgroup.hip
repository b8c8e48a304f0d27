// out = epilogue(a b^T) with Hopper's warpgroup products: large products there.
//
// Shapes   see gemm.hpp.
// Mapping  one block a multiprocessor takes tiles of 128 rows in turn, with 192 columns or, where
//          results are in fp32, 160 or 128. One thread copies slices of 64 columns of both
//          operands, a ring of stages ahead; two warpgroups compute a tile each in turns: one
//          stores its tile while the other one's products fill the matrix cores. Results leave
//          through shared memory, residuals are added where they lie, in L2.
// Traffic  as gemm.hip: 2 * 128 * 192 * 64 operations for 28 KB from L2, as two blocks of a cluster
//          share the rows of b. Compute bound, at the clock that the device's power allows.
// Result   fp32 sums over k in steps of 16, ascending: independent of m and of the grid.
// Limits   sm_90a; see gemm_warpgroup.hpp.
// Source   own.
// Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/gemm_warpgroup.hpp"

#include "gpu/nn/gemm_warpgroup_tile.hpp"

namespace biogpu::gpu::nn {
namespace {

bool aligned(const Rows& rows) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(rows.type));
  return reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 && rows.stride * bytes % 16 == 0;
}

bool suits(const GemmArgs& a, Element operand, int n_multiprocessors) {
  const GemmEpilogue& epilogue = a.epilogue;
  const bool wide = a.out.type == Element::f32;
  if (!wide && (a.out.type != operand || epilogue.residual.data != nullptr)) return false;
  if (wide && (epilogue.gelu || epilogue.cos_sin != nullptr)) return false;
  if (epilogue.residual.data != nullptr &&
      (epilogue.residual.data != a.out.data || epilogue.residual.stride != a.out.stride))
    return false;
  if (epilogue.cos_sin != nullptr && (epilogue.gelu || !can_rotate_in_gemm(epilogue.head)))
    return false;
  if (ceil_div(a.m, 128) * ceil_div(a.n, 128) < n_multiprocessors) return false;
  const auto whole = [](const std::uint16_t* data, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride % 8 == 0;
  };
  return a.k >= 64 && a.n % 8 == 0 && whole(a.a, a.lda) && whole(a.b, a.ldb) && aligned(a.out);
}

// Wider tiles need fewer bytes from L2; those of fp32 results are as wide as divides the matrix.
template <bool kCompiled, Number16 kType>
bool launch_type(const GemmArgs& a, Stream& stream) {
  if constexpr (kCompiled) {
    if (a.out.type != Element::f32)
      return launch_warpgroup_tiles<WarpgroupTile<kType, false, 192, false, 4>>(a, stream);
    if (a.n % 160 == 0)
      return launch_warpgroup_tiles<WarpgroupTile<kType, true, 160, true, 5>>(a, stream);
    return launch_warpgroup_tiles<WarpgroupTile<kType, true, 128, false, 5>>(a, stream);
  }
  return false;
}

}  // namespace

bool launch_gemm_warpgroup(const GemmArgs& a, Number16 type, Stream& stream) {
  const Element operand = type == Number16::fp16 ? Element::fp16 : Element::bf16;
  if (!has_warpgroups() || !suits(a, operand, stream.n_multiprocessors())) return false;
  return type == Number16::fp16 ? launch_type<kHasWarpgroups, Number16::fp16>(a, stream)
                                : launch_type<kHasWarpgroups, Number16::bf16>(a, stream);
}

}  // namespace biogpu::gpu::nn
