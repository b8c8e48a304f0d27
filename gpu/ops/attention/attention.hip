// Attention over sequences of any length, without padding and without the matrix of scores.
//
// Shapes   see attention.hpp.
// Mapping  a block takes tiles of 128 or 64 queries of one head, 32 or 16 for each of its 4 waves;
//          keys and values pass through shared memory in steps that the next one's copies overlap.
//          As many blocks as fit stay and take tile after tile from the work list.
// Traffic  8 bytes per number of q, k, v and out with 16-bit operands, keys and values again for
//          each tile of queries, from L2; 4 n^2 head operations for n tokens and a head: compute
//          bound from n = 100 or so.
// Result   fp32 softmax with running maxima; the order of sums depends on the sequence alone.
// Limits   head up to 192.
// Source   Dao 2023, FlashAttention-2, arXiv 2307.08691; the layout of the weights of the second
//          product: own.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/attention/attention.hpp"

#include <algorithm>

#include "gpu/ops/attention/attention_tile.hpp"
#include "gpu/ops/attention/attention_warpgroup.hpp"
#include "gpu/ops/attention/head_limits.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/ops/attention/attention.hpp"

namespace biogpu::gpu::ops {
namespace {

template <class Shape>
__global__ __launch_bounds__(Shape::kThreads) void attention_kernel(AttentionArgs a) {
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  constexpr int kPieces = kQueryRows / Shape::kRows;
  const int n_items = *a.n_tiles * a.n_heads * kPieces;
  for (int item = static_cast<int>(blockIdx.x); item < n_items;
       item += static_cast<int>(gridDim.x)) {
    QueryTile tile = a.tiles[item / (a.n_heads * kPieces)];
    tile.first += item / a.n_heads % kPieces * Shape::kRows;
    if (tile.first < tile.length) attention_tile<Shape>(a, tile, item % a.n_heads, shared);
  }
}

template <class Shape>
void launch_shape(const AttentionArgs& a, Stream& stream) {
  constexpr std::size_t kSharedBytes = sizeof(std::uint16_t) * Shape::kSharedElements;
  constexpr std::size_t kBlocksOfMultiprocessor =
      6;  // resident or soon to be: tiles differ in length
  stream.launch_shared(
      attention_kernel<Shape>,
      kBlocksOfMultiprocessor * static_cast<std::size_t>(stream.n_multiprocessors()),
      Shape::kThreads, kSharedBytes, a);
}

template <int kWave, Number16 kType, int kParts>
void launch_head(const AttentionArgs& a, Stream& stream) {
  constexpr int kRowTiles = kParts == 1 ? 2 : 1;
  const int head = std::max(a.head, a.head_v);
  if (head <= 16)
    return launch_shape<AttentionShape<kWave, kType, 16, kParts, kRowTiles>>(a, stream);
  if (head <= 32)
    return launch_shape<AttentionShape<kWave, kType, 32, kParts, kRowTiles>>(a, stream);
  if (head <= 64)
    return launch_shape<AttentionShape<kWave, kType, 64, kParts, kRowTiles>>(a, stream);
  if (head <= 128) return launch_shape<AttentionShape<kWave, kType, 128, kParts>>(a, stream);
  launch_shape<AttentionShape<kWave, kType, 192, kParts>>(a, stream);
}

}  // namespace

std::vector<QueryTile> query_tiles(std::span<const std::int32_t> starts) {
  std::vector<QueryTile> tiles;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::int32_t length = starts[s + 1] - starts[s];
    for (std::int32_t first = 0; first < length; first += kQueryRows)
      tiles.push_back({starts[s], length, first, static_cast<std::int32_t>(s)});
  }
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const QueryTile& x, const QueryTile& y) { return x.length > y.length; });
  return tiles;
}

void launch_attention(const AttentionArgs& a, Stream& stream) {
  if (launch_attention_warpgroup(a, stream)) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    if (a.q.type == Element::f32) {
      launch_head<wave, Number16::fp16, 2>(a, stream);
    } else if (a.q.type == Element::fp16) {
      launch_head<wave, Number16::fp16, 1>(a, stream);
    } else {
      launch_head<wave, Number16::bf16, 1>(a, stream);
    }
  });
}

void attention(Device& device, const biogpu::ops::Attention& op) {
  require_heads("attention", {op.q.shape[2], op.v.shape[2]}, 192);
  AttentionArgs args;
  args.q = rows_of(op.q);
  args.k = rows_of(op.k);
  args.v = rows_of(op.v);
  args.head_stride = op.q.stride[1];
  args.key_head_stride = op.k.stride[1];
  args.value_head_stride = op.v.stride[1];
  args.n_heads = static_cast<int>(op.q.shape[1]);
  args.heads_of_key = static_cast<int>(op.q.shape[1] / op.k.shape[1]);
  args.head = static_cast<int>(op.q.shape[2]);
  args.head_v = static_cast<int>(op.v.shape[2]);
  args.soft_cap = op.soft_cap;
  args.scale = op.scale;
  args.log_sum_exp = op.log_sum_exp.as<float>();
  args.log_sum_exp_stride = op.log_sum_exp.stride[0];
  args.n_rows = op.q.shape[0];
  args.out = rows_of(op.out);
  if (!op.bias.empty()) {
    args.bias = {op.bias.data, 1, element_of(op.bias.dtype)};
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (op.bias.shape[axis] > 1) args.bias_stride[axis] = op.bias.stride[axis];
  }
  const RaggedPlan& plan = device.plan(*op.segments);
  args.tiles = plan.tiles();
  args.n_tiles = plan.n_tiles();
  launch_attention(args, device.stream());
}

}  // namespace biogpu::gpu::ops
