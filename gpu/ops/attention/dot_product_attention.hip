// Attention of batch rows with keys of their own, a bias, masks and a cap, without the matrix of
// scores.
//
// Shapes   see lib/ops/attention/dot_product_attention.hpp.
// Mapping  a block takes 128 or 64 queries of one head of one batch row, 32 or 16 for each of its 4
//          waves; keys and values pass through shared memory in steps that the next one's copies
//          overlap. Waves without queries copy and wait. As many blocks as fit stay and take one
//          piece after the other: those of one head, then those of one batch row, which share keys.
// Traffic  8 bytes per number of q, k, v and out with 16-bit operands, keys and values again for
//          each 128 queries, from L2; a bias once a batch row and head, from L2: 2 bytes for 4 h
//          operations. Bound by exponentials for heads of 32, else by products.
// Result   fp32 softmax with running maxima; the order of sums depends on the number of keys alone.
//          fp32 operands are sums of two fp16 numbers, as in attention_split.hip.
// Limits   head up to 192; other than multiples of 8 are padded.
// Source   Dao 2023, FlashAttention-2, arXiv 2307.08691; own.
// Oracle   dot_product_attention_ref, lib/ops/attention/dot_product_attention_ref.cpp.
#include "lib/ops/attention/dot_product_attention.hpp"

#include <algorithm>

#include "gpu/ops/attention/dot_product/dot_product_warpgroup.hpp"
#include "gpu/ops/attention/dot_product/shared_bias_warpgroup.hpp"
#include "gpu/ops/attention/dot_product_attention_tile.hpp"
#include "gpu/ops/attention/head_limits.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/ops/gather/padded_heads.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

// Whether n queries from `at` on are to be computed.
__device__ __forceinline__ bool is_wanted(const DotProductArgs& a, const DotProductItem& at,
                                          int n) {
  if (a.redo == nullptr) return true;
  const std::int32_t* const notes = a.redo + 1 + (at.b * a.n_heads + at.head) * a.redo_tiles;
  bool wanted = false;
  for (int i = at.first / 64; i < (at.first + n) / 64 && i < a.redo_tiles; ++i)
    wanted = wanted || notes[i] != 0;
  return wanted;
}

template <class Shape>
__global__ __launch_bounds__(Shape::kThreads) void dot_product_kernel(DotProductArgs a) {
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  if (a.redo != nullptr && *a.redo == 0) return;
  const int n_tiles = (a.n_queries + Shape::kRows - 1) / Shape::kRows;
  const std::int64_t n_items = a.n_batches * a.n_heads * n_tiles;
  for (std::int64_t item = blockIdx.x; item < n_items; item += gridDim.x) {
    const std::int64_t pair = item / n_tiles;  // of a batch row and a head
    DotProductItem at;
    at.b = pair / a.n_heads;
    at.head = static_cast<int>(pair - at.b * a.n_heads);
    at.first = static_cast<int>(item - pair * n_tiles) * Shape::kRows;
    at.n_keys = a.n_keys;
    if (a.key_lengths != nullptr && a.key_lengths[at.b] < at.n_keys)
      at.n_keys = a.key_lengths[at.b];
    if (is_wanted(a, at, Shape::kRows)) dot_product_tile<Shape>(a, at, shared);
  }
}

template <class Shape>
void launch_dot_shape(const DotProductArgs& a, Stream& stream) {
  constexpr std::size_t kSharedBytes = sizeof(std::uint16_t) * Shape::kSharedElements;
  // Resident or soon to be; for notes, which are mostly empty, few blocks end sooner.
  const std::int64_t blocks_of_multiprocessor = a.redo == nullptr ? 6 : 1;
  const std::int64_t n_items = a.n_batches * a.n_heads * ceil_div(a.n_queries, Shape::kRows);
  const std::int64_t n_blocks =
      std::min(n_items, blocks_of_multiprocessor * std::int64_t{stream.n_multiprocessors()});
  stream.launch_shared(dot_product_kernel<Shape>, static_cast<std::size_t>(n_blocks),
                       Shape::kThreads, kSharedBytes, a);
}

template <int kWave, Number16 kType, int kParts>
void launch_dot_head(const DotProductArgs& a, Stream& stream) {
  constexpr int kRowTiles = kParts == 1 ? 2 : 1;
  const int head = std::max(a.head, a.head_v);
  if (head <= 16)
    return launch_dot_shape<DotShape<AttentionShape<kWave, kType, 16, kParts, kRowTiles>>>(a,
                                                                                           stream);
  if (head <= 32)
    return launch_dot_shape<DotShape<AttentionShape<kWave, kType, 32, kParts, kRowTiles>>>(a,
                                                                                           stream);
  if (head <= 64)
    return launch_dot_shape<DotShape<AttentionShape<kWave, kType, 64, kParts, kRowTiles>>>(a,
                                                                                           stream);
  using Keys = AttentionShape<kWave, kType, 128, kParts>;
  if (head <= 128) return launch_dot_shape<DotShape<Keys>>(a, stream);
  // AlphaGenome's: queries and keys of 128, values of 192.
  if (a.head <= 128)
    return launch_dot_shape<
        DotShape<Keys, AttentionShape<kWave, kType, 192, kParts, 1, Keys::kKeys>>>(a, stream);
  launch_dot_shape<DotShape<AttentionShape<kWave, kType, 192, kParts>>>(a, stream);
}

DotHeads dot_heads_of(const tensor::Tensor& x) {
  return {{x.data, x.stride[1], element_of(x.dtype)}, x.stride[0], x.stride[2]};
}

void set_bias(const biogpu::ops::DotProductAttention& op, DotProductArgs& args) {
  if (op.bias.empty()) return;
  args.bias = {op.bias.data, 1, element_of(op.bias.dtype)};
  args.bias_batches = op.bias.shape[0];
  args.bias_block = static_cast<int>(op.bias_block);
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (op.bias.shape[axis] > 1) args.bias_stride[axis] = op.bias.stride[axis];
  const std::int64_t* const stride = args.bias_stride;
  args.bias_pairs =
      args.bias_block == 1 && stride[3] == 1 && args.n_keys % 2 == 0 &&
      (stride[0] | stride[1] | stride[2]) % 2 == 0 &&
      reinterpret_cast<std::uintptr_t>(op.bias.data) % (2 * bytes_of(args.bias.type)) == 0;
}

void set_masks(const biogpu::ops::DotProductAttention& op, DotProductArgs& args) {
  args.key_lengths = op.key_lengths.as<std::int32_t>();
  if (op.key_mask.empty()) return;
  args.key_mask = op.key_mask.data;
  args.mask_is_f32 = op.key_mask.dtype == tensor::DType::f32;
  args.mask_batch = op.key_mask.shape[0] > 1 ? op.key_mask.stride[0] : 0;
  args.mask_key = op.key_mask.stride[1];
  args.masked = kLog2E * limited_bias(op.masked_value);
}

}  // namespace

void dot_product_attention(Device& device, const biogpu::ops::DotProductAttention& op) {
  require_heads("dot_product_attention", {op.q.shape[3], op.v.shape[3]}, 192);
  if (op.out.size() == 0) return;
  if (run_with_padded_heads(device, op, dot_product_attention)) return;
  DotProductArgs args;
  args.q = dot_heads_of(op.q);
  args.k = dot_heads_of(op.k);
  args.v = dot_heads_of(op.v);
  args.out = dot_heads_of(op.out);
  args.n_batches = op.q.shape[0];
  args.n_queries = static_cast<int>(op.q.shape[1]);
  args.n_keys = static_cast<int>(op.k.shape[1]);
  args.n_heads = static_cast<int>(op.q.shape[2]);
  args.heads_of_key = static_cast<int>(op.q.shape[2] / op.k.shape[2]);
  args.head = static_cast<int>(op.q.shape[3]);
  args.head_v = static_cast<int>(op.v.shape[3]);
  args.scale = op.scale * kLog2E;
  args.soft_cap = op.soft_cap * kLog2E;
  set_bias(op, args);
  set_masks(op, args);
  args.log_sum_exp = op.log_sum_exp.as<float>();
  args.sums_batch = op.log_sum_exp.stride[0];
  args.sums_head = op.log_sum_exp.stride[1];
  Stream& stream = device.stream();
  if (launch_dot_product_warpgroup(args, stream)) return;
  launch_shared_bias(device, args);  // then only what it could not compute is left
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    if (args.q.rows.type == Element::f32) {
      launch_dot_head<wave, Number16::fp16, 2>(args, stream);
    } else if (args.q.rows.type == Element::fp16) {
      launch_dot_head<wave, Number16::fp16, 1>(args, stream);
    } else {
      launch_dot_head<wave, Number16::bf16, 1>(args, stream);
    }
  });
}

}  // namespace biogpu::gpu::ops
