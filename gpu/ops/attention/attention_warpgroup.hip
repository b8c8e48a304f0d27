// Attention with heads of 64 on Hopper's warpgroup products.
//
// Shapes   see attention.hpp.
// Mapping  a block takes tiles of 128 queries of one head, 64 for each of two warpgroups; keys and
//          values come in steps of 64, a ring of four steps ahead, copied by one wave. Two blocks
//          on a multiprocessor: while one warpgroup weighs scores, products of the others run.
// Traffic  as attention.hip. The exponentials of n^2 scores take as long as the two products.
// Result   fp32 softmax against a reference that follows the maximum; the order of sums depends on
//          the sequence alone.
// Limits   sm_90a; see attention_warpgroup.hpp.
// Source   Shah et al. 2024, FlashAttention-3, arXiv 2407.08608; the late reference: own.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/attention/attention_warpgroup.hpp"

#include "gpu/ops/attention/attention_warpgroup_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

bool suits(const AttentionArgs& a) {
  const auto aligned = [&a](const Rows& rows) {
    return rows.type == a.q.type && reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0 &&
           rows.stride % 8 == 0;
  };
  // The greatest score is sought before scores are scaled.
  return a.head == WarpgroupAttention::kHead && a.head_v == a.head && a.heads_of_key == 1 &&
         a.key_head_stride == a.head_stride && a.value_head_stride == a.head_stride &&
         a.soft_cap == 0 && a.scale > 0 && a.q.type != Element::f32 && a.bias.data == nullptr &&
         a.head_stride % 8 == 0 && a.n_rows > 0 && aligned(a.q) && aligned(a.k) && aligned(a.v) &&
         aligned(a.out);
}

template <bool kCompiled, Number16 kType>
bool launch_type(const AttentionArgs& a, Stream& stream) {
  if constexpr (kCompiled) {
    using A = WarpgroupAttention;
    const std::int64_t n_columns = (a.n_heads - 1) * a.head_stride + A::kHead;
    const auto map = [&](const Rows& rows, int box_rows, TensorMap* to) {
      return make_tensor_map(
          to, {rows.data, a.n_rows, n_columns, rows.stride, BoxedMatrix::Number::bits16, box_rows});
    };
    AttentionMaps maps;
    if (!map(a.q, kQueryRows, &maps.q) || !map(a.k, A::kKeys, &maps.k) ||
        !map(a.v, A::kKeys, &maps.v))
      return false;
    stream.launch_shared(attention_warpgroup_kernel<kType>,
                         2 * static_cast<std::size_t>(stream.n_multiprocessors()), A::kThreads,
                         A::kSharedBytes, a, maps);
    return true;
  }
  return false;
}

}  // namespace

bool launch_attention_warpgroup(const AttentionArgs& a, Stream& stream) {
  if (!has_warpgroups() || !suits(a)) return false;
  return a.q.type == Element::fp16 ? launch_type<kHasWarpgroups, Number16::fp16>(a, stream)
                                   : launch_type<kHasWarpgroups, Number16::bf16>(a, stream);
}

}  // namespace biogpu::gpu::ops
