// Attention of many batch rows that share one bias, as triangle attention, on Hopper's warpgroup
// products.
//
// Shapes   see shared_bias_warpgroup.hpp and lib/ops/attention/dot_product_attention.hpp.
// Mapping  a block takes 128 queries of one head in two batch rows, one for each warpgroup
//          that computes; they share the bias. Keys, values and bias come in steps of 64 keys, a
//          ring of stages, copied by one wave of a further warpgroup. A warpgroup turns scores of
//          64 queries into weights while products of its other 64 run. One block on a
//          multiprocessor.
// Traffic  8 bytes per number of q, k, v and out, keys and values again for each 128 queries and
// the
//          bias for each two batch rows, from L2. Bound by exponentials: one a score.
// Result   weights of bf16 have no reference, those of fp16 the greatest score of the first step;
//          both are exact to rounding wherever the sum of a row stays in range, and other rows are
//          noted for the general kernel. The bias is rounded to fp16. The order of sums depends on
//          the number of keys alone.
// Limits   sm_90a; see SharedBiasRule.
// Source   Shah et al. 2024, FlashAttention-3, arXiv 2407.08608; own.
// Oracle   dot_product_attention_ref, lib/ops/attention/dot_product_attention_ref.cpp.
#include "gpu/ops/attention/dot_product/shared_bias_warpgroup.hpp"

#include <algorithm>

#include "gpu/ops/attention/dot_product/shared_bias_prepare.hpp"
#include "gpu/ops/attention/dot_product/shared_bias_tile.hpp"

namespace biogpu::gpu::ops {
namespace {

bool is_boxed(const DotProductArgs& a, const DotHeads& x, std::int64_t n, std::int64_t n_heads) {
  const auto steps = [](std::int64_t count, std::int64_t stride) {
    return count == 1 || (stride > 0 && stride % 8 == 0);
  };
  return x.rows.type == a.q.rows.type && reinterpret_cast<std::uintptr_t>(x.rows.data) % 16 == 0 &&
         steps(n, x.rows.stride) && steps(n_heads, x.head) && steps(a.n_batches, x.batch);
}

// What the kernel needs besides its operands.
struct SharedBiasMemory {
  explicit SharedBiasMemory(Device&) {}
  DeviceBuffer<std::uint16_t> bias;
  DeviceBuffer<std::uint64_t> masked;
  DeviceBuffer<float> masked_score;
  DeviceBuffer<std::int32_t> redo;
};

template <Element kType>
void launch_preparation_of(const SharedBiasPreparation& p, Stream& stream) {
  stream.launch(shared_bias_prepare_kernel<kType>,
                static_cast<std::size_t>(p.bias_blocks() + p.mask_blocks() + p.redo_blocks()),
                SharedBiasPreparation::kThreads, p);
}

void launch_preparation(const SharedBiasPreparation& p, Stream& stream) {
  switch (p.bias.type) {
    case Element::f32:
      return launch_preparation_of<Element::f32>(p, stream);
    case Element::fp16:
      return launch_preparation_of<Element::fp16>(p, stream);
    case Element::bf16:
      return launch_preparation_of<Element::bf16>(p, stream);
  }
}

template <class S, bool kMasks>
void launch_kernel(const SharedBiasArgs& a, const SharedBiasMaps& maps, Stream& stream) {
  const int n_blocks = std::min(SharedBiasItem<S>::count(a), stream.n_multiprocessors());
  stream.launch_shared(shared_bias_kernel<S, kMasks>, static_cast<std::size_t>(n_blocks),
                       S::kThreads, S::kSharedBytes, a, maps);
}

template <class S>
bool launch_shape(const DotProductArgs& d, const SharedBiasArgs& a, Stream& stream) {
  const auto map = [&](const DotHeads& x, int width, int n, int n_heads, TensorMap* to) {
    return make_heads_map(to, {x.rows.data, width, n, n_heads, d.n_batches, x.rows.stride, x.head,
                               x.batch, 64, S::kHead});
  };
  const int n_key_heads = d.n_heads / d.heads_of_key;
  SharedBiasMaps maps;
  if (!map(d.q, d.head, d.n_queries, d.n_heads, &maps.q) ||
      !map(d.k, d.head, d.n_keys, n_key_heads, &maps.k) ||
      !map(d.v, d.head_v, d.n_keys, n_key_heads, &maps.v) ||
      !map(d.out, d.head_v, d.n_queries, d.n_heads, &maps.out))
    return false;
  if (a.masked != nullptr) {
    launch_kernel<S, true>(a, maps, stream);
  } else {
    launch_kernel<S, false>(a, maps, stream);
  }
  return true;
}

template <bool kCompiled, Number16 kType>
bool launch_type(const DotProductArgs& d, const SharedBiasArgs& a, Stream& stream) {
  if constexpr (kCompiled) {
    if (std::max(d.head, d.head_v) <= 32)
      return launch_shape<SharedBiasShape<kType, 32, 3, 4>>(d, a, stream);
    return launch_shape<SharedBiasShape<kType, 64, 2, 3>>(d, a, stream);
  }
  return false;
}

}  // namespace

bool SharedBiasRule::suits(const DotProductArgs& a) {
  constexpr std::int64_t kMaxItems = std::int64_t{1} << 30;
  const bool bias = a.bias.data != nullptr && a.bias_batches == 1 && a.bias_block == 1;
  const bool plain = a.q.rows.type != Element::f32 && a.soft_cap == 0 && a.key_lengths == nullptr &&
                     a.log_sum_exp == nullptr && std::max(a.head, a.head_v) <= 64;
  const bool masks = a.key_mask == nullptr || a.masked <= kMasked;
  const bool many = a.n_batches >= kMinRows && a.n_queries >= kMinRows && a.n_keys >= kMinRows;
  return bias && plain && masks && many && a.n_batches * a.n_heads * a.n_queries <= kMaxItems &&
         is_boxed(a, a.q, a.n_queries, a.n_heads) && is_boxed(a, a.out, a.n_queries, a.n_heads) &&
         is_boxed(a, a.k, a.n_keys, a.n_heads / a.heads_of_key) &&
         is_boxed(a, a.v, a.n_keys, a.n_heads / a.heads_of_key);
}

bool launch_shared_bias(Device& device, DotProductArgs& d) {
  if (!has_warpgroups() || !SharedBiasRule::suits(d)) return false;
  Stream& stream = device.stream();
  auto& memory = device.state<SharedBiasMemory>();
  SharedBiasArgs a;
  a.n_batches = static_cast<int>(d.n_batches);
  a.n_queries = d.n_queries;
  a.n_heads = d.n_heads;
  a.heads_of_key = d.heads_of_key;
  a.scale = d.scale;
  a.layout = BiasLayout::of(d.n_queries, d.n_keys);
  const std::int64_t n_tiles = std::int64_t{a.layout.n_pairs} * BiasLayout::kTiles;
  const std::int64_t n_redo = 1 + d.n_batches * d.n_heads * n_tiles;
  device.grow(memory.bias, static_cast<std::size_t>(d.n_heads * a.layout.head_size()));
  device.grow(memory.redo, static_cast<std::size_t>(n_redo));
  SharedBiasPreparation p;
  p.bias = d.bias;
  for (int axis = 0; axis < 3; ++axis) p.stride[axis] = d.bias_stride[axis + 1];
  p.n_heads = d.n_heads;
  p.n_queries = d.n_queries;
  p.n_keys = d.n_keys;
  p.n_batches = a.n_batches;
  p.layout = a.layout;
  p.to = memory.bias.data();
  p.redo = memory.redo.data();
  p.n_redo = static_cast<int>(n_redo);
  if (d.key_mask != nullptr) {
    device.grow(memory.masked, static_cast<std::size_t>(d.n_batches * a.layout.n_steps));
    device.grow(memory.masked_score, static_cast<std::size_t>(d.n_batches));
    p.key_mask = d.key_mask;
    p.mask_is_f32 = d.mask_is_f32;
    p.mask_is_finite = d.masked > SharedBiasRule::kInfinite;
    p.mask_batch = d.mask_batch;
    p.mask_key = d.mask_key;
    p.masked = memory.masked.data();
    p.masked_score = memory.masked_score.data();
  }
  launch_preparation(p, stream);
  a.bias = p.to;
  a.masked = p.masked;
  a.masked_score = p.masked_score;
  a.redo = p.redo;
  const bool done = d.q.rows.type == Element::fp16
                        ? launch_type<kHasWarpgroups, Number16::fp16>(d, a, stream)
                        : launch_type<kHasWarpgroups, Number16::bf16>(d, a, stream);
  if (!done) return false;
  d.redo = a.redo;
  d.redo_tiles = static_cast<int>(n_tiles);
  return true;
}

}  // namespace biogpu::gpu::ops
