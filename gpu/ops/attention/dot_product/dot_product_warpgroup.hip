// Attention with heads of AlphaGenome's sizes and a cap, on Hopper's warpgroup products.
//
// Shapes   see dot_product_warpgroup.hpp and lib/ops/attention/dot_product_attention.hpp.
// Mapping  a block takes two tiles of 64 queries that share keys and values, one for each of two
//          warpgroups: heads of one tile, then the next tile. Keys and values come in steps of 64,
//          a ring of four, copied by one wave of a third warpgroup. One block on a multiprocessor.
// Traffic  as dot_product_attention.hip. Two exponentials and half a reciprocal for each of n^2
//          scores take as long as the two products, which run beside them.
// Result   fp32 softmax against a fixed reference: a cap bounds scores, so that no weight leaves
//          the normal numbers of fp16. The order of sums depends on the number of keys alone.
// Limits   sm_90a; see dot_product_warpgroup.hpp.
// Source   Shah et al. 2024, FlashAttention-3, arXiv 2407.08608; the fixed reference: own.
// Oracle   dot_product_attention_ref, lib/ops/attention/dot_product_attention_ref.cpp.
#include "gpu/ops/attention/dot_product/dot_product_warpgroup.hpp"

#include <algorithm>
#include <cstdlib>

#include "gpu/ops/attention/dot_product/dot_product_warpgroup_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

bool is_aligned(const DotProductArgs& a, const DotHeads& x) {
  return x.rows.type == a.q.rows.type && reinterpret_cast<std::uintptr_t>(x.rows.data) % 16 == 0 &&
         (x.rows.stride | x.batch | x.head) % 8 == 0;
}

// Whether all batch rows, of n rows each, are one matrix.
bool is_matrix(const DotProductArgs& a, const DotHeads& x, int n, int n_heads, int head) {
  constexpr std::int64_t kMostRows = std::int64_t{1} << 30;
  return (a.n_batches == 1 || x.batch == n * x.rows.stride) && x.head >= 0 &&
         (n_heads - 1) * x.head + head <= x.rows.stride && a.n_batches * n <= kMostRows;
}

bool suits(const DotProductArgs& a) {
  using A = WarpgroupDot;
  const bool heads = a.head == A::kHead && a.head_v == A::kHeadV && a.heads_of_key > 0;
  const bool capped = a.soft_cap > 0 && a.soft_cap <= A::kLargestCap;
  const bool masked = a.key_mask != nullptr || a.key_lengths != nullptr;
  constexpr std::int64_t kFarthest = std::int64_t{1} << 29;  // from a row's first bias to its last
  const bool blocks = a.bias_block >= 16 && (a.bias_block & (a.bias_block - 1)) == 0 &&
                      std::abs(a.bias_stride[3]) * ceil_div(a.n_keys, 16) < kFarthest;
  if (!heads || !capped || masked || (a.bias.data != nullptr && !blocks) ||
      a.q.rows.type == Element::f32 || a.n_keys <= 0 || a.n_keys % A::kKeys != 0)
    return false;
  const int n_key_heads = a.n_heads / a.heads_of_key;
  constexpr std::int64_t kMostPieces = std::int64_t{1} << 30;
  return is_aligned(a, a.q) && is_aligned(a, a.k) && is_aligned(a, a.v) && is_aligned(a, a.out) &&
         is_matrix(a, a.q, a.n_queries, a.n_heads, a.head) &&
         is_matrix(a, a.k, a.n_keys, n_key_heads, a.head) &&
         is_matrix(a, a.v, a.n_keys, n_key_heads, a.head_v) &&
         a.n_batches * a.n_heads * ceil_div(a.n_queries, A::kQueries) <= kMostPieces;
}

template <bool kCompiled, Number16 kType>
bool launch_type(const DotProductArgs& a, Stream& stream) {
  if constexpr (kCompiled) {
    using A = WarpgroupDot;
    const auto map = [&](const DotHeads& x, int n, int n_heads, int head, TensorMap* to) {
      return make_tensor_map(to, {x.rows.data, a.n_batches * n, (n_heads - 1) * x.head + head,
                                  x.rows.stride, BoxedMatrix::Number::bits16, A::kKeys});
    };
    const int n_key_heads = a.n_heads / a.heads_of_key;
    DotMaps maps;
    if (!map(a.q, a.n_queries, a.n_heads, a.head, &maps.q) ||
        !map(a.k, a.n_keys, n_key_heads, a.head, &maps.k) ||
        !map(a.v, a.n_keys, n_key_heads, a.head_v, &maps.v))
      return false;
    const int n_blocks = std::min(DotOrder(a).size(), stream.n_multiprocessors());
    stream.launch_shared(dot_product_warpgroup_kernel<kType>, static_cast<std::size_t>(n_blocks),
                         A::kThreads, A::kSharedBytes, a, maps);
    return true;
  }
  return false;
}

}  // namespace

bool launch_dot_product_warpgroup(const DotProductArgs& a, Stream& stream) {
  if (!has_warpgroups() || !suits(a)) return false;
  return a.q.rows.type == Element::fp16 ? launch_type<kHasWarpgroups, Number16::fp16>(a, stream)
                                        : launch_type<kHasWarpgroups, Number16::bf16>(a, stream);
}

}  // namespace biogpu::gpu::ops
